import { Get, Inject, Post, type Type } from '@nestjs/common';
import type { Actor } from '../common/access.js';
import * as json from '../common/fields/json-schema.js';
import type { ResourceDefinition, Row } from '../common/resource/define-resource.js';
import { CurrentActor, Target } from '../common/rest/parameters.js';
import { type GenericController, ResourceController } from '../common/rest/resource.controller.js';
import { Route } from '../common/rest/route.js';
import { CancelService, isActive } from './cancel.service.js';

export interface CancelableController extends GenericController {
  readonly cancels: CancelService;
}

/**
 * Returns the base class of the controller of a kind of runs, with list, retrieve, delete and
 * cancel. Runs are created elsewhere. GET `cancel/` returns if the run can be canceled; POST
 * `cancel/` cancels it.
 */
export function RunController(
  definition: ResourceDefinition,
): Type<CancelableController> & { readonly definition: ResourceDefinition } {
  const label = definition.label.toLowerCase();

  class Run extends ResourceController(definition, ['list', 'retrieve', 'destroy']) {
    @Inject() readonly cancels!: CancelService;

    @Route({
      parent: definition,
      link: 'cancel',
      operationId: `${definition.path}_can_cancel`,
      summary: `Return whether the ${label} can be canceled.`,
      response: json.object({
        can_cancel: json.described(json.BOOLEAN, 'True if the run can be canceled now.'),
      }),
    })
    @Get(':id/cancel')
    canCancel(@Target() run: Row): { can_cancel: boolean } {
      return { can_cancel: isActive(run) };
    }

    @Route({
      parent: definition,
      needs: 'cancel',
      status: 202,
      operationId: `${definition.path}_cancel`,
      summary: `Cancel the ${label}: immediately if it has not started, otherwise as soon as possible.`,
    })
    @Post(':id/cancel')
    cancel(@Target() run: Row, @CurrentActor() actor: Actor): Promise<void> {
      return this.cancels.cancel(definition, run, actor);
    }
  }
  return Run;
}
