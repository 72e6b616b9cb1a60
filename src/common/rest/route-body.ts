import { ROUTE_ARGS_METADATA } from '@nestjs/common/constants.js';
import { RouteParamtypes } from '@nestjs/common/enums/route-paramtypes.enum.js';
import { isSchema, type SchemaClass } from '../fields/field.js';

import { metadataOf } from './metadata.js';

/** Metadata that the framework stores about the decorated parameters of a handler, by kind and index. */
type Arguments = Readonly<Record<string, { index: number }>>;

/** Returns the class of the handler's body parameter: `@Body() body: ResendRequest`. */
export function bodyOf(prototype: object, name: string | symbol): SchemaClass | undefined {
  const parameters = metadataOf<Arguments>(ROUTE_ARGS_METADATA, prototype.constructor, name) ?? {};
  const types = metadataOf<readonly unknown[]>('design:paramtypes', prototype, name) ?? [];
  const [body] = Object.entries(parameters).flatMap(([key, { index }]) =>
    key.startsWith(`${RouteParamtypes.BODY}:`) ? [types[index]] : [],
  );
  return isSchema(body) ? body : undefined;
}
