import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AccessModule } from '../access/access.module.js';
import { TeamHooks } from './team.hooks.js';
import { TeamsController } from './teams.controller.js';
import { TeamsRepository } from './teams.repository.js';
import { Team } from './team.entity.js';

@Module({
  imports: [AccessModule, TypeOrmModule.forFeature([Team])],
  controllers: [TeamsController],
  providers: [TeamHooks, TeamsRepository],
  exports: [TeamsRepository],
})
export class TeamsModule {}
