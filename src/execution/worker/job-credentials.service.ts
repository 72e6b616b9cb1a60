import { join } from 'node:path';
import { Injectable } from '@nestjs/common';
import { CredentialSecrets } from '../../credentials/credential-secrets.service.js';
import { buildInjectionPlan, type LaunchPasswords } from '../../credentials/types/injection.js';
import { secretEnvIn, type InjectionPlan } from '../../credentials/types/injection-plan.js';
import { RuntimeSettings } from '../../settings/runtime-settings.service.js';
import type { AnsibleRun } from '../runner/ansible-run.js';
import { type Workspace, writePrivateFile } from '../runner/workspace.js';
import type { ActiveRun } from './active-runs.service.js';

/** Properties of a run that credentials define. */
type CredentialProperties = Pick<
  AnsibleRun,
  | 'remoteUser'
  | 'becomeMethod'
  | 'becomeUser'
  | 'passwords'
  | 'sshKeyData'
  | 'sshKeyUnlock'
  | 'sshCertificate'
  | 'vaultPasswords'
  | 'env'
  | 'secretEnv'
>;

/**
 * Decrypts the credentials of a run, writes their files into its private folder, and adds the variables
 * of the setting `AWX_TASK_ENV`.
 */
@Injectable()
export class JobCredentials {
  constructor(
    private readonly secrets: CredentialSecrets,
    private readonly runtime: RuntimeSettings,
  ) {}

  /**
   * @throws InjectionError or LookupError with the message for `job_explanation`, UnsealError if a secret
   *   cannot be decrypted
   */
  async open(
    run: Pick<ActiveRun, 'lookups'>,
    ids: readonly number[],
    { passwords = {}, workspace }: { passwords?: LaunchPasswords; workspace: Workspace },
  ): Promise<InjectionPlan> {
    const opened = await this.secrets.open(ids, run.lookups);
    const plan = buildInjectionPlan([...opened.values()], {
      passwords,
      fileDirectory: workspace.inside.envDir,
    });
    for (const { name, content } of plan.files) {
      await writePrivateFile(join(workspace.envDir, name), content);
    }
    const { AWX_TASK_ENV: variables } = await this.runtime.get('AWX_TASK_ENV');
    const { env, safeEnv } = plan;
    return { ...plan, env: { ...variables, ...env }, safeEnv: { ...variables, ...safeEnv } };
  }
}

/** Converts the plan to properties of a run. */
export function credentialProperties(plan: InjectionPlan): CredentialProperties {
  const { sshPassword, becomePassword } = plan;
  return {
    env: plan.env,
    secretEnv: secretEnvIn(plan),
    vaultPasswords: plan.vaults,
    passwords: {
      ...(sshPassword === null ? {} : { ssh: sshPassword }),
      ...(becomePassword === null ? {} : { become: becomePassword }),
    },
    ...(plan.remoteUser === null ? {} : { remoteUser: plan.remoteUser }),
    ...(plan.becomeMethod === null ? {} : { becomeMethod: plan.becomeMethod }),
    ...(plan.becomeUser === null ? {} : { becomeUser: plan.becomeUser }),
    ...(plan.sshKeyData === null ? {} : { sshKeyData: plan.sshKeyData }),
    ...(plan.sshKeyUnlock === null ? {} : { sshKeyUnlock: plan.sshKeyUnlock }),
    ...(plan.sshPublicKeyData === null ? {} : { sshCertificate: plan.sshPublicKeyData }),
  };
}
