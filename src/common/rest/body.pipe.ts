import { Injectable, type ArgumentMetadata, type PipeTransform } from '@nestjs/common';
import { readBody } from '../fields/read-body.js';
import { isSchema } from '../fields/field.js';
import { isRecord } from '../records.js';

/**
 * Hands a handler the body of its request as the class it asks for, `@Body() body: ResendRequest`,
 * read and checked by the decorators of that class. A handler that asks for no class gets the body as
 * it was sent: the service of a resource reads it when it knows which of its fields count.
 *
 * @throws Invalid with every fault at once
 */
@Injectable()
export class BodyPipe implements PipeTransform {
  transform(value: unknown, { type, metatype }: ArgumentMetadata): unknown {
    // A body of lines is none: it stays in the stream.
    return type === 'body' && isSchema(metatype) && isRecord(value)
      ? readBody(metatype, value)
      : value;
  }
}
