import { RequestMethod } from '@nestjs/common';
import { parseVariables } from '../common/fields/variables.js';
import type { ApiRequest } from '../common/http/request.js';
import { freeObject } from '../common/fields/json-schema.js';
import { addRoute } from '../common/rest/add-route.js';
import type { ResourceDefinition, Row } from '../common/resource/define-resource.js';
import type {
  GenericController,
  GenericControllerClass,
} from '../common/rest/resource.controller.js';

type Variables = Record<string, unknown>;
type Handler = (this: GenericController, request: ApiRequest) => Promise<Variables>;

/**
 * Declares `/<resource>/<id>/variable_data/`: the variables as an object. PUT replaces them, PATCH
 * sets the keys it names; either way they are stored as JSON text.
 */
export function VariableData(): ClassDecorator {
  return (target) => {
    const controller = target as unknown as GenericControllerClass;
    const { definition } = controller;
    definition.links.set('variable_data', 'variable_data');
    declareRoute(controller, RequestMethod.GET, 'retrieve', 'Show', async function (request) {
      const { resources } = this.machinery;
      return variablesOf(await resources.load(definition, request.params.id, request.actor));
    });
    declareRoute(controller, RequestMethod.PUT, 'replace', 'Replace', function (request) {
      return store(this, definition, request, () => request.body);
    });
    declareRoute(controller, RequestMethod.PATCH, 'modify', 'Change', function (request) {
      return store(this, definition, request, (present) => ({ ...present, ...request.body }));
    });
  };
}

const variablesOf = (row: Row): Variables => parseVariables(String(row.variables));

function store(
  { machinery }: GenericController,
  definition: ResourceDefinition,
  { params, actor }: ApiRequest,
  next: (present: Variables) => Variables,
): Promise<Variables> {
  const { resources } = machinery;
  return machinery.database.transaction(async () => {
    const row = await resources.load(definition, params.id, actor, {
      action: 'change',
      lock: true,
    });
    const variables = next(variablesOf(row));
    const options = { partial: true };
    const body = { variables };
    return variablesOf(await resources.update(definition, String(row.id), body, actor, options));
  });
}

function declareRoute(
  controller: GenericControllerClass,
  method: RequestMethod,
  verb: 'retrieve' | 'replace' | 'modify',
  word: string,
  handler: Handler,
): void {
  const { definition } = controller;
  addRoute(controller, `variable_data_${verb}`, {
    method,
    path: ':id/variable_data',
    info: {
      kind: 'document',
      access: 'authenticated',
      operationId: `${definition.path}_variable_data_${verb}`,
      summary: `${word} the variables of one ${definition.label.toLowerCase()}.`,
      parent: definition,
      ...(verb === 'retrieve' ? {} : { needs: 'change', body: [] }),
      response: freeObject('Variables by name.'),
    },
    handler: handler as (request: ApiRequest) => Promise<unknown>,
  });
}
