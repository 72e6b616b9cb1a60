import { Module } from '@nestjs/common';
import { TeamHooks } from './team.hooks.js';
import { TeamsController } from './teams.controller.js';

@Module({ controllers: [TeamsController], providers: [TeamHooks] })
export class TeamsModule {}
