import { RequestMethod, type Type } from '@nestjs/common';
import type { ApiRequest } from '../common/http/request.js';
import { BOOLEAN, object } from '../common/fields/json-schema.js';
import { addRoute } from '../common/rest/add-route.js';
import type { ResourceDefinition } from '../common/resource/define-resource.js';
import { Machinery } from '../common/rest/machinery.js';
import { type GenericController, ResourceController } from '../common/rest/resource.controller.js';
import { CancelService } from './cancel.service.js';

export interface CancelableController extends GenericController {
  readonly cancels: CancelService;
}

type Handler = (request: ApiRequest) => Promise<unknown>;

/**
 * Base class of a kind of runs: they are listed, shown, deleted and canceled, and made elsewhere.
 * `cancel/` tells by GET whether the run can be canceled, and cancels it by POST.
 */
export function RunController(
  definition: ResourceDefinition,
): Type<CancelableController> & { readonly definition: ResourceDefinition } {
  class Run extends ResourceController(definition, ['list', 'retrieve', 'destroy']) {
    constructor(
      machinery: Machinery,
      readonly cancels: CancelService,
    ) {
      super(machinery);
    }
  }
  Reflect.defineMetadata('design:paramtypes', [Machinery, CancelService], Run);
  const label = definition.label.toLowerCase();
  const info = { access: 'authenticated', parent: definition } as const;
  definition.links.set('cancel', 'cancel');
  addRoute(Run, 'can_cancel', {
    method: RequestMethod.GET,
    path: ':id/cancel',
    info: {
      ...info,
      kind: 'document',
      operationId: `${definition.path}_can_cancel`,
      summary: `Whether the ${label} can be canceled.`,
      response: object({ can_cancel: BOOLEAN }),
    },
    handler: function (this: CancelableController, { params, actor }) {
      return this.cancels.canCancel(definition, params.id, actor);
    } as Handler,
  });
  addRoute(Run, 'cancel', {
    method: RequestMethod.POST,
    path: ':id/cancel',
    info: {
      ...info,
      kind: 'action',
      needs: 'cancel',
      status: 202,
      operationId: `${definition.path}_cancel`,
      summary: `Cancel the ${label}: at once when it has not started, else as soon as it can be ended.`,
    },
    handler: function (this: CancelableController, { params, actor }) {
      return this.cancels.cancel(definition, params.id, actor);
    } as Handler,
  });
  return Run;
}
