import { Resource, ResourceController } from '../common/rest/resource.controller.js';
import { hostMetrics } from './host-metrics.resource.js';

@Resource(hostMetrics)
export class HostMetricsController extends ResourceController(hostMetrics) {}
