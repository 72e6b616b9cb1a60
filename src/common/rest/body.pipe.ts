import { Injectable, type ArgumentMetadata, type PipeTransform } from '@nestjs/common';
import { readBody } from '../fields/read-body.js';
import { isSchema } from '../fields/field.js';
import { isRecord } from '../records.js';

/**
 * Passes the request body to the handler as an instance of the handler's parameter class, for example
 * `@Body() body: ResendRange`, parsed and validated by the decorators of that class. A handler without
 * such a class receives the body as sent: the resource service parses it, because only that service knows
 * which fields apply.
 *
 * @throws Invalid with all validation errors
 */
@Injectable()
export class BodyPipe implements PipeTransform {
  transform(value: unknown, { type, metatype }: ArgumentMetadata): unknown {
    // An NDJSON body is not an object: it stays in the stream, unparsed.
    return type === 'body' && isSchema(metatype) && isRecord(value)
      ? readBody(metatype, value)
      : value;
  }
}
