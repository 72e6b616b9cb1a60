import { Module } from '@nestjs/common';
import { CallbackController } from './callback.controller.js';
import { Callbacks } from './callbacks.service.js';
import { CallingHosts } from './calling-hosts.service.js';

@Module({ controllers: [CallbackController], providers: [Callbacks, CallingHosts] })
export class CallbacksModule {}
