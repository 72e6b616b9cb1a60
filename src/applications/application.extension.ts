import { Injectable } from '@nestjs/common';
import { TokensRepository } from '../auth/tokens.repository.js';
import { MASKED_TOKEN } from '../auth/tokens.resource.js';
import { extendEach, type RowOf } from '../common/resource/define-resource.js';
import type { Extension } from '../common/resource/extension.js';
import type { Application } from './application.entity.js';

/** Adds the masked secret of confidential clients, and a summary of the tokens. */
@Injectable()
export class ApplicationExtension {
  constructor(private readonly tokens: TokensRepository) {}

  async extend(rows: readonly RowOf<Application>[]): Promise<Map<number, Extension>> {
    const tokens = await this.tokens.ofApplications(rows.map(({ id }) => id));
    return extendEach(rows, ({ id, client_type: type }) => ({
      fields: { client_secret: type === 'public' ? undefined : MASKED_TOKEN },
      summary_fields: { tokens: tokens.get(id) ?? { count: 0, results: [] } },
    }));
  }
}
