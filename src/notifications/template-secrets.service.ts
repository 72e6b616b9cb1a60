import { Injectable } from '@nestjs/common';
import { isSealed, rowContext, SecretBox, UnsealError } from '../common/crypto/secret-box.js';
import { resultOr } from '../common/errors/errors.js';
import { encryptedKeys, maskConfiguration, secretKeys } from './backends/configuration.js';
import type { NotificationType } from './backends/notification-type.js';
import { ENCRYPTED } from '../common/fields/text.js';

type Values = Readonly<Record<string, unknown>>;

/**
 * Converts a `notification_configuration` to its stored form and back: each secret value is sealed
 * separately for its row (objects as JSON text), all other values are unchanged. An empty secret is
 * not sealed.
 */
@Injectable()
export class TemplateSecrets {
  constructor(private readonly box: SecretBox) {}

  /** Returns the stored form of a validated configuration. */
  seal(id: number, type: NotificationType, configuration: Values): Record<string, unknown> {
    const stored = { ...configuration };
    for (const key of encryptedKeys(type)) {
      const value = stored[key];
      if (value === undefined || value === '') continue;
      const text = typeof value === 'string' ? value : JSON.stringify(value);
      stored[key] = this.box.seal(text, sealContextOf(id, key));
    }
    return stored;
  }

  /**
   * Returns the configuration with decrypted secrets.
   *
   * @throws UnsealError
   */
  open(id: number, type: NotificationType, stored: Values): Record<string, unknown> {
    const opened = { ...stored };
    for (const key of encryptedKeys(type)) {
      if (isSealedValue(opened[key])) opened[key] = this.openValue(id, type, key, opened[key]);
    }
    return opened;
  }

  /** Returns the decrypted configuration; null if the encryption key is lost. */
  openIfPossible(
    id: number,
    type: NotificationType,
    stored: Values,
  ): Record<string, unknown> | null {
    return resultOr(() => this.open(id, type, stored), null, UnsealError);
  }

  /**
   * Returns the configuration as the API shows it. Hidden secrets are not decrypted. Secrets that
   * cannot be decrypted are hidden too, so that lists still work after the loss of a key.
   */
  show(id: number, type: NotificationType, stored: Values): Record<string, unknown> {
    const hidden = new Set(secretKeys(type));
    const shown = { ...stored };
    for (const key of encryptedKeys(type)) {
      if (!isSealedValue(shown[key])) continue;
      const value = hidden.has(key) ? null : this.openIfPossible(id, type, { [key]: shown[key] });
      shown[key] = value ? value[key] : ENCRYPTED;
    }
    return maskConfiguration(type, shown);
  }

  private openValue(id: number, type: NotificationType, key: string, sealed: string): unknown {
    const text = this.box.open(sealed, sealContextOf(id, key));
    return type === 'webhook' && key === 'headers' ? JSON.parse(text) : text;
  }
}

/** Returns the context of a sealed secret: one key of one row. */
const sealContextOf = (id: number, key: string): string =>
  rowContext('notification_templates', id, key);

const isSealedValue = (value: unknown): value is string =>
  typeof value === 'string' && isSealed(value);
