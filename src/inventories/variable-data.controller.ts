import { Body, Controller, Get, Patch, Put } from '@nestjs/common';
import type { Actor } from '../common/access.js';
import { mergeExact } from '../common/exact-json.js';
import * as json from '../common/fields/json-schema.js';
import { readVariables } from '../common/fields/variables.js';
import type { ResourceDefinition, Row } from '../common/resource/define-resource.js';
import { CurrentActor, Target } from '../common/rest/parameters.js';
import { resourceOf } from '../common/rest/resource.controller.js';
import { ResourceService } from '../common/rest/resource.service.js';
import { Route, type RouteInfo } from '../common/rest/route.js';
import { Database } from '../database/database.js';

type Variables = Record<string, unknown>;

const variablesOf = (row: Row): Promise<Variables> => readVariables(String(row.variables));

const routeOf = (owners: ResourceDefinition, verb: string, word: string): RouteInfo => ({
  kind: 'document',
  operationId: `${owners.path}_variable_data_${verb}`,
  summary: `${word} the variables of one ${owners.label.toLowerCase()}.`,
  parent: owners,
  response: json.freeObject('Variables by name.'),
});
const CHANGE = { needs: 'change', body: [] } as const;

/** The variables of an object as JSON. Changes store JSON text. */
@Controller()
export abstract class VariableDataController {
  private readonly owners = resourceOf(this);

  constructor(
    private readonly database: Database,
    private readonly resources: ResourceService,
  ) {}

  @Route((owners) => ({ ...routeOf(owners, 'retrieve', 'Show'), link: 'variable_data' }))
  @Get()
  retrieve(@Target() row: Row): Promise<Variables> {
    return variablesOf(row);
  }

  @Route((owners) => ({ ...routeOf(owners, 'replace', 'Replace'), ...CHANGE }))
  @Put()
  replace(
    @Target() target: Row,
    @Body() sent: Variables,
    @CurrentActor() actor: Actor,
  ): Promise<Variables> {
    return this.change(target, actor, async () => sent);
  }

  /** Sets the variables of the request and keeps all others. */
  @Route((owners) => ({ ...routeOf(owners, 'modify', 'Change'), ...CHANGE }))
  @Patch()
  modify(
    @Target() target: Row,
    @Body() sent: Variables,
    @CurrentActor() actor: Actor,
  ): Promise<Variables> {
    return this.change(target, actor, async (row) => mergeExact(await variablesOf(row), sent));
  }

  private change(
    target: Row,
    actor: Actor,
    changed: (row: Row) => Promise<Variables>,
  ): Promise<Variables> {
    return this.database.transaction(async () => {
      const row = await this.resources.lock(this.owners, target, actor);
      const body = { variables: await changed(row) };
      const updated = await this.resources.update(this.owners, row, body, actor, { partial: true });
      return variablesOf(updated);
    });
  }
}
