import {
  Injectable,
  type CallHandler,
  type ExecutionContext,
  type NestInterceptor,
} from '@nestjs/common';
import { finalize, type Observable } from 'rxjs';
import { Forbidden, resultOr } from '../errors/errors.js';
import { parseJson } from '../fields/json-bounds.js';
import { costlyToRead, isWithinYamlLimit, readAhead } from '../fields/variables.js';
import { isRecord } from '../records.js';
import type { ApiRequest } from '../http/request.js';
import { OptionsService } from './options.service.js';
import { RouteTable } from './route-table.service.js';

/** Names of fields that contain variables, in the body itself and in the entries of its lists. */
const VARIABLE_FIELDS = ['variables', 'extra_vars', 'extra_data'];
const LIST_FIELDS = ['hosts', 'jobs'];

/**
 * Parses expensive variables of a body in advance of the handler. Before parsing, verifies that the
 * caller has permission for the route (docs/contract/conventions.md#variables).
 */
@Injectable()
export class VariablesInterceptor implements NestInterceptor {
  constructor(
    private readonly table: RouteTable,
    private readonly options: OptionsService,
  ) {}

  async intercept(context: ExecutionContext, next: CallHandler): Promise<Observable<unknown>> {
    const request = context.switchToHttp().getRequest<ApiRequest>();
    const texts = await costlyToRead(textsIn(request.body));
    if (texts.length === 0) return next.handle();
    const route = this.table.match(request.path)?.routes.get(request.method);
    if (route?.info?.access === 'authenticated') {
      const { body } = await this.options.openParts(route, request.path, request.actor);
      if (!body) throw new Forbidden();
    }
    const clearCache = await readAhead(texts);
    return next.handle().pipe(finalize(clearCache));
  }
}

function textsIn(body: unknown): string[] {
  const texts: string[] = [];
  if (!isRecord(body)) return texts;
  const collectTexts = (object: Readonly<Record<string, unknown>>): void => {
    for (const name of VARIABLE_FIELDS) {
      const text = object[name];
      if (isWithinYamlLimit(text)) texts.push(text);
    }
  };
  collectTexts(body);
  for (const name of LIST_FIELDS) listEntries(body[name]).forEach(collectTexts);
  return texts;
}

/** Accepts lists in JSON text too, the form in which HTML forms send them. */
function listEntries(list: unknown): Record<string, unknown>[] {
  if (Array.isArray(list)) return list.filter(isRecord);
  if (typeof list !== 'string') return [];
  return listEntries(resultOr(() => [parseJson(list)].flat(), []));
}
