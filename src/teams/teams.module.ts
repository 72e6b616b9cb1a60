import { Global, Module } from '@nestjs/common';
import { TeamStore } from '../access/team-store.js';
import { TeamHooks } from './team.hooks.js';
import { TeamsController } from './teams.controller.js';
import { TeamsRepository } from './teams.repository.js';

@Global()
@Module({
  controllers: [TeamsController],
  providers: [TeamHooks, TeamsRepository, { provide: TeamStore, useExisting: TeamsRepository }],
  exports: [TeamStore],
})
export class TeamsModule {}
