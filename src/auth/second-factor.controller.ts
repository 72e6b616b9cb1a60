import { Body, Controller, Post } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Actor } from '../common/access.js';
import { Forbidden } from '../common/errors/errors.js';
import { Char } from '../common/fields/field.js';
import { currentScope } from '../common/http/request-scope.js';
import type { RowOf } from '../common/resource/define-resource.js';
import { CurrentActor, Target } from '../common/rest/parameters.js';
import { Route } from '../common/rest/route.js';
import { SecurityEvents } from '../common/rest/security-events.service.js';
import type { User } from '../users/user.entity.js';
import { users } from '../users/users.resource.js';
import { SecondFactors } from './second-factors.service.js';

/** Body of the removal of a second factor. */
export class RemovalProof {
  @Char({
    column: null,
    max: 32,
    help: 'Code of the app, or recovery code. Required for the second factor of the caller.',
  })
  code!: string;
}

/** Removal of second factors (docs/second-factor.md). */
@ApiTags('users')
@Controller('api/v2/users/:id')
export class SecondFactorController {
  constructor(
    private readonly factors: SecondFactors,
    private readonly events: SecurityEvents,
  ) {}

  @Route({
    operationId: 'users_remove_second_factor',
    summary: 'Remove the second factor of a user. Superusers can remove that of others.',
    parent: users,
    needs: 'self',
    status: 204,
  })
  @Post('remove_second_factor')
  async remove(
    @Target() user: RowOf<User>,
    @Body() { code }: RemovalProof,
    @CurrentActor() actor: Actor,
  ): Promise<void> {
    if (currentScope()?.isApplication)
      throw new Forbidden('An application cannot remove second factors.');
    const isOwn = user.id === actor.id;
    if (isOwn && user.has_second_factor) await this.factors.confirmCode(actor, code);
    if (!(await this.factors.remove(user.id))) return;
    const path = `/api/v2/users/${user.id}/remove_second_factor/`;
    this.events.record('second_factor_removed', { method: 'POST', path }, user.username);
  }
}
