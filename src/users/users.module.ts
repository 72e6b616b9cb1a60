import { Global, Module } from '@nestjs/common';
import { UserStore } from '../access/user-store.js';
import { UserHooks } from './user.hooks.js';
import { UsersController } from './users.controller.js';
import { UsersRepository } from './users.repository.js';

@Global()
@Module({
  controllers: [UsersController],
  providers: [UserHooks, UsersRepository, { provide: UserStore, useExisting: UsersRepository }],
  exports: [UsersRepository, UserStore],
})
export class UsersModule {}
