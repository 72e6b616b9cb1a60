import { Injectable } from '@nestjs/common';
import type { RowOf } from '../common/resource/define-resource.js';
import type { ResourceHooks } from '../common/rest/hooks.js';
import type { Token } from './token.entity.js';
import { TokensRepository } from './tokens.repository.js';

/** Changes and ends the refresh token together with the access token. */
@Injectable()
export class TokenHooks implements ResourceHooks<Token> {
  constructor(private readonly tokens: TokensRepository) {}

  async updated(before: RowOf<Token>, { id, scope }: RowOf<Token>): Promise<void> {
    if (scope !== before.scope) await this.tokens.setRefreshScope(id, scope);
  }

  async prepareDelete({ id }: RowOf<Token>): Promise<void> {
    await this.tokens.endRefreshOf(id);
  }
}
