import { Resource, ResourceController } from '../common/rest/resource.controller.js';
import { monthlyHostMetrics } from './host-metrics.resource.js';

@Resource(monthlyHostMetrics)
export class HostMetricSummaryMonthlyController extends ResourceController(monthlyHostMetrics) {}
