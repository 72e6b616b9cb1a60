import { Module } from '@nestjs/common';
import { UserHooks } from './user.hooks.js';
import { UsersController } from './users.controller.js';

@Module({ controllers: [UsersController], providers: [UserHooks] })
export class UsersModule {}
