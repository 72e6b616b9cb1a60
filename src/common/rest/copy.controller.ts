import { Body, Controller, Get, Inject, Post } from '@nestjs/common';
import type { Actor } from '../access.js';
import { columnOf } from '../fields/field.js';
import { validate } from '../fields/validation.js';
import { Invalid, NotFound } from '../errors/errors.js';
import * as json from '../fields/json-schema.js';
import type { JsonSchemas } from '../fields/json-schema.js';
import { CurrentActor, Target } from './parameters.js';
import type { ResourceDefinition, Row, RowOf } from '../resource/define-resource.js';
import type { Values } from './hooks.js';
import { CommonServices } from './common-services.service.js';
import { isWritable } from '../fields/reads.decorator.js';
import { mapValues } from '../records.js';
import { resourceOf } from './resource.controller.js';
import { Route, type RouteInfo } from './route.js';
import { isPermitted } from './sublist-requests.js';

/**
 * Declares the GET of `copy/`.
 *
 * @param losses schemas of members that name the parts of the original that a copy would lose
 */
export const copyCheckOf = (
  { path, label }: ResourceDefinition,
  losses: JsonSchemas = {},
): RouteInfo => ({
  link: 'copy',
  operationId: `${path}_copy_read`,
  summary: `Return whether the caller may copy one ${label.toLowerCase()}.`,
  response: json.object({
    can_copy: json.described(json.BOOLEAN, 'True if the caller can copy the object.'),
    ...losses,
  }),
});

const nameFields = ({ fields }: Pick<ResourceDefinition, 'fields'>) =>
  fields.filter(({ name }) => name === 'name');

/**
 * `/<resource>/<id>/copy/` (docs/contract/conventions.md#copies). GET returns whether the caller has
 * permission to copy; POST `{name}` creates the copy. The action `copy` of the policy decides: read on the
 * original, and the create rule applied to the original's data.
 */
@Controller()
export abstract class CopyController<Schema extends object = object> {
  private readonly copied = resourceOf<Schema>(this);

  @Inject() protected readonly services!: CommonServices;

  @Route((copied) => ({ ...copyCheckOf(copied), parent: copied }))
  @Get()
  async check(@Target() row: RowOf<Schema>, @CurrentActor() actor: Actor): Promise<object> {
    return { can_copy: await this.mayCopy(row, actor) };
  }

  @Route((copied) => ({
    kind: 'create',
    parent: copied,
    resource: copied,
    needs: 'copy',
    operationId: `${copied.path}_copy_create`,
    summary: `Copy one ${copied.label.toLowerCase()} under another name.`,
    body: nameFields(copied),
  }))
  @Post()
  copy(
    @Target() original: RowOf<Schema>,
    @Body() body: Record<string, unknown>,
    @CurrentActor() actor: Actor,
  ): Promise<object> {
    const { database, resources, rows } = this.services;
    return database.transaction(async () => {
      // Keeps the original, and its parts, until they are copied.
      if (!(await rows.lockForLink(this.copied, original.id))) throw new NotFound();
      const name = newName(this.copied, original, body);
      const values = {
        ...valuesOf(this.copied, original),
        ...(await this.replacedValues(original, actor)),
        name,
      };
      const copy = await resources.insert(withErrorsOnName(this.copied), values, actor);
      await this.copyParts(original, copy, actor);
      const copied = await resources.load(this.copied, copy.id, actor);
      return resources.show(this.copied, copied, actor);
    });
  }

  /** Returns values, with decrypted secrets, that replace values of the original, by field name. */
  protected async replacedValues(_original: RowOf<Schema>, _actor: Actor): Promise<Values> {
    return {};
  }

  /** Copies dependent objects of the original in the same transaction. */
  protected async copyParts(
    _original: RowOf<Schema>,
    _copy: RowOf<Schema>,
    _actor: Actor,
  ): Promise<void> {}

  protected mayCopy({ id }: RowOf<Schema>, actor: Actor): Promise<boolean> {
    return isPermitted(() => this.services.resources.assertMay(this.copied, id, 'copy', actor));
  }
}

/** Returns the name of the copy, which differs from that of the original. */
function newName(definition: ResourceDefinition, original: Row, body: Values): unknown {
  const { name } = validate(definition.entity, body, { fields: nameFields(definition) });
  if (name !== original.name) return name;
  throw Invalid.field(
    'name',
    `The original object is already named ${String(name)}, a copy from it cannot have the same name.`,
  );
}

/** Reports uniqueness errors on `name`, the only field in which the copy differs from the original. */
const withErrorsOnName = <Schema extends object>(
  definition: ResourceDefinition<Schema>,
): ResourceDefinition<Schema> => ({
  ...definition,
  unique: mapValues(definition.unique, (error) =>
    typeof error === 'string' ? { name: error } : error,
  ),
});

/** Returns the writable fields of a row in the form of a request body. */
function valuesOf(definition: ResourceDefinition, row: Row): Values {
  const writable = definition.fields.filter(
    (field) => field.column !== null && isWritable(field) && field.name !== 'id',
  );
  return Object.fromEntries(writable.map((field) => [field.name, row[columnOf(field)]]));
}
