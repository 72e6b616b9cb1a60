import { Module } from '@nestjs/common';
import { UserHooks } from './user.hooks.js';
import { UsersController } from './users.controller.js';
import { UsersRepository } from './users.repository.js';

@Module({
  controllers: [UsersController],
  providers: [UserHooks, UsersRepository],
  exports: [UsersRepository],
})
export class UsersModule {}
