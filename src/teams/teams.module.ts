import { Module } from '@nestjs/common';
import { TeamHooks } from './team.hooks.js';
import { TeamsController } from './teams.controller.js';
import { TeamsRepository } from './teams.repository.js';

@Module({
  controllers: [TeamsController],
  providers: [TeamHooks, TeamsRepository],
  exports: [TeamsRepository],
})
export class TeamsModule {}
