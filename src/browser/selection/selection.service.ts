import { Injectable } from '@nestjs/common';
import type { Actor } from '../../common/access.js';
import { BadRequest } from '../../common/errors/errors.js';
import { definitions } from '../../common/fields/field.js';
import type { ResourceDefinition } from '../../common/resource/define-resource.js';
import { errorResponseOf } from '../../common/rest/errors.filter.js';
import { ResourceService } from '../../common/rest/resource.service.js';
import { CancelService } from '../../runs/cancel.service.js';
import { messagesOf } from '../shared/form-errors.js';
import { objectTitleOf } from '../shared/value-views.js';

/** Rows of a page at its largest size. */
const MAX_SELECTED = 200;

export type SelectionAction = 'cancel' | 'delete';

/** A selected object, with the reason why the action is refused; null if the action is permitted. */
export interface Selected {
  definition: ResourceDefinition;
  id: number;
  name: string;
  refusal: string | null;
}

/** Deletes or cancels the selected rows of a list, each in its own transaction. */
@Injectable()
export class SelectionService {
  constructor(
    private readonly resources: ResourceService,
    private readonly cancels: CancelService,
  ) {}

  /** Returns all selected objects, with the reason of each refusal, without changing any. */
  find(entries: readonly string[], action: SelectionAction, actor: Actor): Promise<Selected[]> {
    return this.process(entries, action, actor, async () => {});
  }

  /** Performs the action on every selected object that permits it. */
  perform(entries: readonly string[], action: SelectionAction, actor: Actor): Promise<Selected[]> {
    return this.process(entries, action, actor, async (definition, id) => {
      const row = await this.resources.load(definition, id, actor, { action });
      if (action === 'cancel') await this.cancels.cancel(definition, row, actor);
      else await this.resources.destroy(definition, row, actor);
    });
  }

  /** @throws BadRequest for too many or invalid entries */
  private async process(
    entries: readonly string[],
    action: SelectionAction,
    actor: Actor,
    perform: (definition: ResourceDefinition, id: number) => Promise<void>,
  ): Promise<Selected[]> {
    if (entries.length > MAX_SELECTED) {
      throw new BadRequest(`Select at most ${MAX_SELECTED} entries.`);
    }
    const selected: Selected[] = [];
    for (const entry of new Set(entries)) {
      const [type = '', id = ''] = entry.split('.');
      const definition = definitions.get(type);
      if (!definition || !isOffered(definition, action) || !/^\d{1,16}$/.test(id)) {
        throw new BadRequest(`"${entry}" is not an entry of a list.`);
      }
      selected.push(await this.processOne(definition, Number(id), action, actor, perform));
    }
    return selected;
  }

  private async processOne(
    definition: ResourceDefinition,
    id: number,
    action: SelectionAction,
    actor: Actor,
    work: (definition: ResourceDefinition, id: number) => Promise<void>,
  ): Promise<Selected> {
    let name = `${definition.label} ${id}`;
    try {
      const row = await this.resources.load(definition, id, actor);
      name = objectTitleOf(await this.resources.show(definition, row, actor));
      await this.resources.assertMay(definition, id, action, actor);
      await work(definition, id);
      return { definition, id, name, refusal: null };
    } catch (error) {
      const { status, body } = errorResponseOf(error);
      if (status >= 500) throw error;
      const refusal = Object.values(body).flatMap(messagesOf)[0] ?? '';
      return { definition, id, name, refusal };
    }
  }
}

/** Returns true if lists offer the action for a type. Superusers have every permission, but not every action. */
const isOffered = ({ stored, policy, capabilities }: ResourceDefinition, action: SelectionAction) =>
  stored && (action === 'cancel' ? policy.actions?.cancel : capabilities.delete) !== undefined;
