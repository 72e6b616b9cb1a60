import {
  Injectable,
  type CallHandler,
  type ExecutionContext,
  type NestInterceptor,
} from '@nestjs/common';
import { map, type Observable } from 'rxjs';
import { envelope, Page } from './page.js';
import type { QueryParameters } from './query.js';

/** Parts of a request that the links of an envelope contain. */
interface ListRequest {
  path: string;
  query: QueryParameters;
}

/** Creates the envelope of every list. Handlers return a `Page` without links. */
@Injectable()
export class PaginationInterceptor implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const { path, query } = context.switchToHttp().getRequest<ListRequest>();
    const linkPath = path.endsWith('/') ? path : `${path}/`;
    return next
      .handle()
      .pipe(
        map((value: unknown) => (value instanceof Page ? envelope(value, linkPath, query) : value)),
      );
  }
}
