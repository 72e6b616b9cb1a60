import { Body, RequestMethod } from '@nestjs/common';
import type { Actor } from '../access.js';
import { columnOf } from '../fields/field.js';
import { validate } from '../fields/validate.js';
import { DomainError, Invalid } from '../errors/errors.js';
import { BOOLEAN, object, type JsonSchemas } from '../fields/json-schema.js';
import { addRoute } from './add-route.js';
import { CurrentActor, Target } from './parameters.js';
import type { ResourceDefinition, Row, RowOf } from '../resource/define-resource.js';
import type { Values } from './hooks.js';
import type { CommonServices } from './common-services.service.js';
import { controllerOf, type GenericController } from './resource.controller.js';
import { isWritable } from '../fields/reads.js';

export interface CopyContext {
  services: CommonServices;
  actor: Actor;
}

/** Options for resources whose copy involves more than the writable fields. */
export interface CopyOptions<Schema extends object = object> {
  /** Additional members of the GET response: the parts of the original that a copy would lose. */
  losses?: {
    /** JSON schemas by name. */
    properties: JsonSchemas;
    tell(
      original: RowOf<Schema>,
      mayCopy: boolean,
      context: CopyContext,
    ): Promise<Record<string, unknown>>;
  };
  /** Returns values that replace those of the original, by field name. Secrets are decrypted here. */
  values?(original: RowOf<Schema>, context: CopyContext): Promise<Values>;
  /** Copies dependent objects of the original in the same transaction. */
  copied?(original: RowOf<Schema>, copy: RowOf<Schema>, context: CopyContext): Promise<void>;
}

/**
 * Declares `/<resource>/<id>/copy/` (docs/contract/conventions.md#copies). GET returns whether the caller
 * has permission to copy; POST `{name}` creates the copy. The action `copy` of the policy decides: read
 * on the original, and the create rule applied to the original's data.
 */
export function Copyable(options: CopyOptions = {}): ClassDecorator {
  return (target) => {
    const controller = controllerOf(target);
    const { definition } = controller;
    const label = definition.label.toLowerCase();
    const info = { access: 'authenticated', parent: definition } as const;
    addRoute(controller, 'copy_check', {
      method: RequestMethod.GET,
      path: ':id/copy',
      info: {
        ...info,
        kind: 'document',
        link: 'copy',
        operationId: `${definition.path}_copy_read`,
        summary: `Tell whether the caller may copy one ${label}.`,
        response: object({ can_copy: BOOLEAN, ...options.losses?.properties }),
      },
      parameters: [Target(), CurrentActor()],
      handler(this: GenericController, row: Row, actor: Actor) {
        return copyCheck(definition, row, { services: this.services, actor }, options);
      },
    });
    addRoute(controller, 'copy', {
      method: RequestMethod.POST,
      path: ':id/copy',
      info: {
        ...info,
        kind: 'create',
        resource: definition,
        needs: 'copy',
        operationId: `${definition.path}_copy_create`,
        summary: `Copy one ${label} under another name.`,
        get body() {
          return definition.fields.filter(({ name }) => name === 'name');
        },
      },
      parameters: [Target(), Body(), CurrentActor()],
      handler(this: GenericController, row: Row, body: Record<string, unknown>, actor: Actor) {
        const { services } = this;
        return services.database.transaction(() =>
          copy(definition, row, body, { services, actor }, options),
        );
      },
    });
  };
}

async function copyCheck(
  definition: ResourceDefinition,
  row: Row,
  context: CopyContext,
  { losses }: CopyOptions,
): Promise<Record<string, unknown>> {
  const can_copy = await mayCopy(definition, row, context);
  return { can_copy, ...(await losses?.tell(row, can_copy, context)) };
}

async function mayCopy(
  definition: ResourceDefinition,
  row: Row,
  { services, actor }: CopyContext,
): Promise<boolean> {
  try {
    await services.resources.assertMay(definition, row.id, 'copy', actor);
    return true;
  } catch (error) {
    if (error instanceof DomainError) return false;
    throw error;
  }
}

async function copy(
  definition: ResourceDefinition,
  original: Row,
  body: Record<string, unknown>,
  context: CopyContext,
  options: CopyOptions,
): Promise<object> {
  const { resources } = context.services;
  const { actor } = context;
  const named = definition.fields.filter(({ name }) => name === 'name');
  const { name } = validate(definition.schema, body, { fields: named });
  if (name === original.name) {
    throw Invalid.field(
      'name',
      `The original object is already named ${String(name)}, a copy from it cannot have the same name.`,
    );
  }
  const values = {
    ...valuesOf(definition, original),
    ...(await options.values?.(original, context)),
    name,
  };
  const made = await resources.insert(namesOnName(definition), values, actor);
  await options.copied?.(original, made, context);
  const shown = await resources.load(definition, made.id, actor);
  return resources.show(definition, shown, actor);
}

/** Attributes uniqueness errors to `name`, the only field in which the copy differs from the original. */
const namesOnName = (definition: ResourceDefinition): ResourceDefinition => ({
  ...definition,
  unique: definition.unique.map((rule) =>
    rule.columns.includes('name') ? { ...rule, field: 'name' } : rule,
  ),
});

/** Returns the writable fields of a row in the form of a request body. */
function valuesOf(definition: ResourceDefinition, row: Row): Values {
  const writable = definition.fields.filter(
    (field) => field.column !== null && isWritable(field) && field.name !== 'id',
  );
  return Object.fromEntries(writable.map((field) => [field.name, row[columnOf(field)]]));
}
