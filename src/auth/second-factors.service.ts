import { Injectable } from '@nestjs/common';
import type { Actor } from '../common/access.js';
import { ActivityRecorder } from '../common/activity/activity.js';
import { rowContext, SecretBox, UnsealError } from '../common/crypto/secret-box.js';
import { tokenDigest } from '../common/crypto/tokens.js';
import {
  Conflict,
  Forbidden,
  Invalid,
  LoginRefused,
  TooManyRequests,
} from '../common/errors/errors.js';
import { ENCRYPTED } from '../common/fields/text.js';
import { currentScope } from '../common/http/request-scope.js';
import { Database } from '../database/database.js';
import { UsersRepository } from '../users/users.repository.js';
import { users as userResource } from '../users/users.resource.js';
import { AuthenticationService } from './authentication.service.js';
import type { NewPasskey } from './passkeys.service.js';
import { PasskeysRepository } from './passkeys.repository.js';
import { RecoveryCodesRepository } from './recovery-codes.repository.js';
import type { Passkey } from './second-factor.entity.js';
import { SessionsRepository } from './sessions.repository.js';
import { newRecoveryCode, stepOf } from './totp.js';
import { TotpSecretsRepository, type LockedSecret } from './totp-secrets.repository.js';

const RECOVERY_CODES = 10;
const MAX_PASSKEYS = 20;
const NOT_DECRYPTABLE =
  'The secret of the authenticator app cannot be decrypted. Enter a recovery code, or ask an administrator to remove the second factor.';

/** Second factors on the page of a user. */
export interface SecondFactorState {
  hasApp: boolean;
  passkeys: readonly Pick<Passkey, 'id' | 'name'>[];
  /** Number of unused recovery codes. */
  codesLeft: number;
}

/** Password, or code of a second factor, that proves the presence of the user of a session. */
export interface Proof {
  /** Name that the user logs in with; a directory can have another one than the controller. */
  username: string;
  password: string;
  code: string;
}

/** Second factors of users (docs/second-factor.md). */
@Injectable()
export class SecondFactors {
  constructor(
    private readonly database: Database,
    private readonly secrets: TotpSecretsRepository,
    private readonly codes: RecoveryCodesRepository,
    private readonly passkeys: PasskeysRepository,
    private readonly users: UsersRepository,
    private readonly sessions: SessionsRepository,
    private readonly authentication: AuthenticationService,
    private readonly activity: ActivityRecorder,
    private readonly box: SecretBox,
  ) {}

  /**
   * Verifies a code of the authenticator app, or a recovery code. Each code is accepted once.
   *
   * @throws LoginRefused, also if the secret of the app cannot be decrypted; TooManyRequests after five
   *   wrong codes
   */
  async useCode({ id, username }: Pick<Actor, 'id' | 'username'>, sent: string): Promise<void> {
    const code = sent.replace(/[\s-]/g, '').toUpperCase();
    // A wrong code is counted, so the transaction must be committed before the error.
    const { isRight, wait } = await this.database.transaction(() =>
      /^\d{6}$/.test(code) ? this.takeCode(id, code) : this.takeRecoveryCode(id, code),
    );
    if (wait > 0) throw new TooManyRequests(wait);
    if (!isRight) throw new LoginRefused('The code is wrong, or was used before.', username);
  }

  /**
   * Verifies the code of a user who has a second factor, or the password of another user. A stolen
   * session can set a new password, so a password is not enough to change a second factor.
   *
   * @throws Forbidden if the password or the code is wrong; TooManyRequests, Unavailable
   */
  async confirm(user: Actor, { username, password, code }: Proof, address: string): Promise<void> {
    const { has_second_factor: hasSecondFactor } = await this.users.referenced(user.id);
    if (hasSecondFactor) return this.confirmCode(user, code);
    try {
      const { id } = await this.authentication.verifyPassword(username, password, address);
      if (id !== user.id) throw new LoginRefused('', user.username);
    } catch (error) {
      throw error instanceof LoginRefused
        ? new Forbidden('The password is wrong.', 'login_refused')
        : error;
    }
  }

  /** @throws Forbidden if the code is wrong, TooManyRequests after five wrong codes */
  async confirmCode(user: Actor, code: string): Promise<void> {
    try {
      await this.useCode(user, code);
    } catch (error) {
      throw error instanceof LoginRefused ? new Forbidden(error.message, 'login_refused') : error;
    }
  }

  /**
   * Stores the secret of an authenticator app after a valid code. The first second factor of a user ends the
   * other sessions.
   *
   * @returns the recovery codes
   * @throws Invalid for a wrong code, Conflict if the user already has an authenticator app
   */
  async enroll(user: number, secret: string, code: string): Promise<string[]> {
    const step = stepOf(secret, code.replace(/\s/g, ''));
    if (step === null)
      throw Invalid.field('code', 'The code is wrong. Check the clock of the phone.');
    return this.database.transaction(async () => {
      await this.users.lockForChange([user]);
      if (await this.secrets.locked(user))
        throw new Conflict('There is an authenticator app already.');
      const id = await this.secrets.takeId();
      const sealed = this.box.seal(secret, rowContext(this.secrets.table, id, 'secret'));
      await this.secrets.insert({ id, user_id: user, secret: sealed, step });
      await this.record(user, true);
      return this.replaceCodes(user);
    });
  }

  /**
   * Stores a passkey. The first second factor of a user ends the other sessions.
   *
   * @returns the recovery codes; null if the user already had a second factor
   * @throws Conflict if the user has the maximum number of passkeys
   */
  addPasskey(user: number, name: string, passkey: NewPasskey): Promise<string[] | null> {
    return this.database.transaction(async () => {
      await this.users.lockForChange([user]);
      const count = await this.passkeys.countBy({ user_id: user });
      if (count >= MAX_PASSKEYS) throw new Conflict(`There are ${MAX_PASSKEYS} passkeys already.`);
      await this.passkeys.insert({ ...passkey, user_id: user, name });
      await this.log(user, { passkeys: [null, name] });
      return (await this.record(user, true)) ? this.replaceCodes(user) : null;
    });
  }

  /**
   * Removes a passkey of a user. If it was the last second factor, also removes the recovery codes.
   *
   * @returns false if the user has no such passkey
   */
  removePasskey(user: number, id: number): Promise<boolean> {
    return this.database.transaction(async () => {
      await this.users.lockForChange([user]);
      const passkey = await this.passkeys.findOneBy({ id, user_id: user });
      if (!passkey) return false;
      await this.passkeys.delete({ id });
      await this.log(user, { passkeys: [passkey.name, null] });
      const isLast =
        !(await this.passkeys.existsBy({ user_id: user })) &&
        !(await this.secrets.existsBy({ user_id: user }));
      if (isLast) await this.remove(user);
      return true;
    });
  }

  /** Returns new recovery codes, which replace the old ones. */
  renewCodes(user: number): Promise<string[]> {
    return this.database.transaction(async () => {
      await this.users.lockForChange([user]);
      await this.log(user, { recovery_codes: [ENCRYPTED, ENCRYPTED] });
      return this.replaceCodes(user);
    });
  }

  /** Returns true for a user without a local password that may be used, whom only a directory can confirm. */
  async needsDirectory(id: number): Promise<boolean> {
    const user = await this.users.referenced(id);
    return user.password_hash === '' || !(await this.authentication.mayUseLocal(user));
  }

  /** Returns the second factors of a user; null for a user without any. */
  async stateOf(user: number): Promise<SecondFactorState | null> {
    const { has_second_factor: hasSecondFactor } = await this.users.referenced(user);
    if (!hasSecondFactor) return null;
    return {
      hasApp: await this.secrets.existsBy({ user_id: user }),
      passkeys: await this.passkeys.ofUser(user),
      codesLeft: await this.codes.countBy({ user_id: user }),
    };
  }

  /**
   * Removes the authenticator app, the passkeys and the recovery codes of a user.
   *
   * @returns false if the user has no second factor
   */
  remove(user: number): Promise<boolean> {
    return this.database.transaction(async () => {
      await this.secrets.delete({ user_id: user });
      await this.passkeys.delete({ user_id: user });
      await this.codes.delete({ user_id: user });
      return this.record(user, false);
    });
  }

  private async takeCode(user: number, code: string): Promise<CodeCheck> {
    const stored = await this.secrets.locked(user);
    if (!stored || stored.wait > 0) return { isRight: false, wait: stored?.wait ?? 0 };
    const step = stepOf(this.openSecret(stored), code);
    const isRight = step !== null && step > stored.step;
    await (isRight ? this.secrets.accept(stored.id, step) : this.secrets.refuse(stored.id));
    return { isRight, wait: 0 };
  }

  private openSecret({ id, secret }: LockedSecret): string {
    try {
      return this.box.open(secret, rowContext(this.secrets.table, id, 'secret'));
    } catch (error) {
      throw error instanceof UnsealError ? new LoginRefused(NOT_DECRYPTABLE) : error;
    }
  }

  private async takeRecoveryCode(user: number, code: string): Promise<CodeCheck> {
    const isRight = await this.codes.take(user, tokenDigest(code));
    if (isRight) {
      const left = await this.codes.countBy({ user_id: user });
      await this.log(user, { recovery_codes_left: [left + 1, left] });
    }
    return { isRight, wait: 0 };
  }

  private async replaceCodes(user: number): Promise<string[]> {
    const codes = Array.from({ length: RECOVERY_CODES }, newRecoveryCode);
    await this.codes.replace(
      user,
      codes.map((code) => tokenDigest(code.replaceAll('-', ''))),
    );
    return codes;
  }

  /**
   * Records that a user has, or no longer has, a second factor. Keeps the session of the request.
   *
   * @returns false if nothing changed
   */
  private async record(user: number, value: boolean): Promise<boolean> {
    const generation = await this.users.setSecondFactor(user, value);
    if (generation === undefined) return false;
    const { sessionDigest } = currentScope() ?? {};
    if (sessionDigest) await this.sessions.keep(sessionDigest, user, generation);
    await this.log(user, { has_second_factor: [!value, value] });
    return true;
  }

  private async log(user: number, changes: Record<string, unknown>): Promise<void> {
    this.activity.recordUpdate(userResource, await this.users.referenced(user), changes);
  }
}

/** Result of the check of a code. */
interface CodeCheck {
  isRight: boolean;
  /** Seconds until the next code is checked. */
  wait: number;
}
