import { ResourceController } from '../common/rest/resource.controller.js';
import { Resource } from '../common/rest/resource.decorator.js';
import { monthlyHostMetrics } from './host-metrics.resource.js';

@Resource(monthlyHostMetrics)
export class HostMetricSummaryMonthlyController extends ResourceController(monthlyHostMetrics, [
  'list',
  'retrieve',
]) {}
