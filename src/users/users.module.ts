import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { UserHooks } from './user.hooks.js';
import { UsersController } from './users.controller.js';
import { UsersRepository } from './users.repository.js';
import { User } from './user.entity.js';

@Module({
  imports: [TypeOrmModule.forFeature([User])],
  controllers: [UsersController],
  providers: [UserHooks, UsersRepository],
  exports: [UsersRepository],
})
export class UsersModule {}
