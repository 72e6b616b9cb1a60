import { Module } from '@nestjs/common';
import { UsersModule } from '../users/users.module.js';
import { DirectorySync } from './directory-sync.service.js';
import { IdentityModule } from './identity.module.js';

/** Synchronizes directories; only loaded in the worker process. */
@Module({ imports: [IdentityModule, UsersModule], providers: [DirectorySync] })
export class IdentityWorkerModule {}
