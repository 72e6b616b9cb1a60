import {
  Injectable,
  type CallHandler,
  type ExecutionContext,
  type NestInterceptor,
} from '@nestjs/common';
import { map, type Observable } from 'rxjs';
import { isLong } from '../common/http/long-response.js';
import type { ApiRequest, PlainHandler } from '../common/http/request.js';
import { isRecord, mapValues } from '../common/records.js';
import { Settings } from '../config/settings.js';
import { neutralBody, neutralFilter, neutralUrl, productNames } from './service-names.js';

/**
 * Translates bodies and responses between the neutral names of services and those of products, if the
 * setting `SERVICE_NAMES` is `vendor` (docs/contract/clients.md#names-of-services).
 */
@Injectable()
export class ServiceNamesInterceptor implements NestInterceptor {
  constructor(private readonly settings: Settings) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    if (this.settings.SERVICE_NAMES === 'neutral') return next.handle();
    const request = context.switchToHttp().getRequest<ApiRequest>();
    // Receivers get the raw bytes of a body, which their signature covers.
    if (isRecord(request.body) && !Buffer.isBuffer(request.body)) {
      request.body = neutralBody(request.body);
    }
    // Long responses hold hosts and variables only.
    return next
      .handle()
      .pipe(map((value: unknown) => (isLong(value) ? value : productNames(value))));
  }
}

/** Translates the names of services in URLs and filters, before a route is chosen. */
export const acceptProductNames: PlainHandler = (request, _response, next) => {
  request.url = neutralUrl(request.url);
  request.query = mapValues(request.query, (value, key) =>
    Array.isArray(value)
      ? value.map((item) => neutralFilter(key, item))
      : value && neutralFilter(key, value),
  );
  next();
};
