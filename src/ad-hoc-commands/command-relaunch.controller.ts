import { Body, Controller, Get, Post } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { PASSWORDS_NEEDED } from '../runs/launched-by.js';
import type { Actor } from '../common/access.js';
import * as json from '../common/fields/json-schema.js';
import type { RowOf } from '../common/resource/define-resource.js';
import { Idempotent } from '../common/rest/idempotency.interceptor.js';
import { CurrentActor, Target } from '../common/rest/parameters.js';
import { ResourceService } from '../common/rest/resource.service.js';
import { Route } from '../common/rest/route.js';
import { CredentialPasswords } from '../prompts/credential-passwords.js';
import { formOf, passwordFields } from '../prompts/launch-form.js';
import type { AdHocCommand } from './ad-hoc-command.entity.js';
import { adHocCommands } from './ad-hoc-commands.resource.js';
import { CommandPasswords } from './command-passwords.service.js';

export class CommandRelaunchBody {
  @CredentialPasswords()
  credential_passwords!: Record<string, string>;
}

type Command = RowOf<AdHocCommand>;

function relaunchValues(command: Command): Record<string, unknown> {
  const { inventory_id: inventory, credential_id: credential } = command;
  const { job_type, limit, module_name, module_args, forks, verbosity } = command;
  const { extra_vars, become_enabled, diff_mode } = command;
  const { execution_environment_id: execution_environment, environment } = command;
  return {
    inventory,
    credential,
    job_type,
    limit,
    module_name,
    module_args,
    forks,
    verbosity,
    extra_vars,
    become_enabled,
    diff_mode,
    execution_environment,
    ...(execution_environment === null ? {} : { environment }),
  };
}

/** Returns the fields of the relaunch form: the missing passwords of the credential. */
const relaunchForm = formOf<CommandPasswords>(async ({ rules: passwords, parent }) =>
  passwordFields(await passwords.neededBy(Number(parent.credential_id))),
);

/** Runs a command again (docs/contract/ad-hoc-commands.md#relaunch). */
@ApiTags('ad_hoc_commands')
@Controller('api/v2/ad_hoc_commands/:id/relaunch')
export class CommandRelaunchController {
  constructor(
    private readonly resources: ResourceService,
    private readonly passwords: CommandPasswords,
  ) {}

  @Route({
    link: 'relaunch',
    operationId: 'ad_hoc_commands_relaunch_needs',
    summary: 'Fields of a relaunch of the command.',
    parent: adHocCommands,
    response: json.object({ passwords_needed_to_start: PASSWORDS_NEEDED }),
  })
  @Get()
  async needs(
    @Target() { credential_id: credential }: Command,
  ): Promise<{ passwords_needed_to_start: string[] }> {
    return { passwords_needed_to_start: await this.passwords.neededBy(credential) };
  }

  @Idempotent()
  @Route({
    operationId: 'ad_hoc_commands_relaunch',
    summary: 'Relaunch the command with the same fields.',
    parent: adHocCommands,
    resource: adHocCommands,
    adds: { ad_hoc_command: json.WIDE_INTEGER },
    needs: 'start',
    rules: CommandPasswords,
    openParts: relaunchForm,
    status: 201,
  })
  @Post()
  async relaunch(
    @Target() command: Command,
    @Body() { credential_passwords }: CommandRelaunchBody,
    @CurrentActor() actor: Actor,
  ): Promise<object> {
    // Named one by one: any other name would set a field of the command without its checks.
    const { ssh_password, become_password, ssh_key_unlock } = credential_passwords;
    const passwords = { ssh_password, become_password, ssh_key_unlock };
    const values = { ...relaunchValues(command), ...passwords, launch_type: 'relaunch' };
    const launched = await this.resources.insert(adHocCommands, values, actor);
    const shown = await this.resources.show(adHocCommands, launched, actor);
    return { ...shown, ad_hoc_command: launched.id };
  }
}
