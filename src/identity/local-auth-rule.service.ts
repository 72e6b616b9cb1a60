import { Injectable } from '@nestjs/common';
import type { SettingRules } from '../settings/setting-rules.js';
import { UsersRepository } from '../users/users.repository.js';
import { AuthenticatorsRepository } from './authenticators.repository.js';

/** Accepts `DISABLE_LOCAL_AUTH` only if users and a superuser can still log in. */
@Injectable()
export class LocalAuthRule implements SettingRules {
  constructor(
    private readonly authenticators: AuthenticatorsRepository,
    private readonly users: UsersRepository,
  ) {}

  async faultOf(name: string, value: unknown): Promise<string | null> {
    if (name !== 'DISABLE_LOCAL_AUTH' || value !== true) return null;
    const enabled = await this.authenticators.lockEnabled();
    if (enabled.length === 0) return 'There is no enabled authenticator: users could not log in.';
    return (await this.users.hasLocalSuperuser())
      ? null
      : 'No superuser has a local password: without the authenticators, none could log in.';
  }
}
