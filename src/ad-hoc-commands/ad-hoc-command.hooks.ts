import { Injectable } from '@nestjs/common';
import type { Actor } from '../common/access.js';
import { Invalid, type FieldErrors } from '../common/errors/errors.js';
import { parseVariables } from '../common/fields/variables.js';
import type { RowOf } from '../common/resource/define-resource.js';
import type { Prepared, ResourceHooks, ValuesOf } from '../common/rest/hooks.js';
import { Settings } from '../config/settings.js';
import { CredentialsRepository } from '../credentials/credentials.repository.js';
import { InventoriesRepository } from '../inventories/inventories.repository.js';
import { RunHooks } from '../runs/run.hooks.js';
import { RunTransitions } from '../runs/run-transitions.service.js';
import { RunsRepository } from '../runs/runs.repository.js';
import type { AdHocCommand } from './ad-hoc-command.entity.js';
import { commandErrors, localNames } from './command-checks.js';
import { CommandModules } from './command-modules.service.js';
import { CommandPasswords } from './command-passwords.service.js';

/** Maximum length of a command's name, which is `module: arguments`. */
const MAX_NAME = 512;

/**
 * Hooks of ad hoc commands: creating a command launches it
 * (docs/contract/ad-hoc-commands.md#launch).
 */
@Injectable()
export class AdHocCommandHooks extends RunHooks implements ResourceHooks<AdHocCommand> {
  constructor(
    private readonly commands: RunsRepository,
    private readonly settings: Settings,
    private readonly modules: CommandModules,
    private readonly passwords: CommandPasswords,
    private readonly credentials: CredentialsRepository,
    private readonly inventories: InventoriesRepository,
    private readonly transitions: RunTransitions,
  ) {
    super(commands);
  }

  async prepareCreate(
    values: ValuesOf<AdHocCommand>,
    actor: Actor,
  ): Promise<Prepared<AdHocCommand>> {
    const { inventory = null, credential = null } = values;
    const { ssh_password, become_password, ssh_key_unlock } = values;
    const sent = { ssh_password, become_password, ssh_key_unlock };
    const passwords =
      credential === null ? {} : await this.passwords.required(credential, sent, actor);
    const module = await this.modules.resolve(values.module_name ?? '');
    const moduleArgs = values.module_args ?? '';
    const limit = values.limit ?? '';
    const members = await this.inventories.membersNamed(inventory, localNames(limit));
    const errors = {
      ...(inventory === null ? { inventory: ['No valid inventory.'] } : {}),
      ...(await this.credentialErrors(credential)),
      ...commandErrors(
        {
          module,
          moduleArgs,
          limit,
          has: (name) => members.has(name),
          forks: values.forks ?? 0,
          variables: parseVariables(values.extra_vars ?? ''),
        },
        { maxForks: this.settings.MAX_FORKS },
      ),
    };
    if (Object.keys(errors).length > 0) throw new Invalid(errors);
    // Allocates the id before the insert, because passwords are sealed for their row.
    const [id = 0] = await this.commands.takeIds(1);
    return {
      values: { module_name: module },
      columns: {
        id,
        name: Array.from(`${module}: ${moduleArgs}`).slice(0, MAX_NAME).join(''),
        status: 'pending',
        organization_id: await this.inventories.organizationOf(inventory),
        start_args: this.passwords.seal(id, passwords),
      },
    };
  }

  async created(row: RowOf<AdHocCommand>): Promise<void> {
    const { id, status } = row;
    await this.transitions.created([
      { id, status, type: 'ad_hoc_command', unified_job_template_id: null },
    ]);
  }

  private async credentialErrors(id: number | null): Promise<FieldErrors> {
    if (id === null) return { credential: ['This field cannot be blank.'] };
    const type = await this.credentials.typeOf(id);
    if (type?.kind === 'ssh') return {};
    return { credential: ['You must provide a machine / SSH credential.'] };
  }
}
