import { Module } from '@nestjs/common';
import { CredentialsModule } from '../credentials/credentials.module.js';
import { DemoData } from './demo-data.service.js';

@Module({ imports: [CredentialsModule], providers: [DemoData] })
export class DemoModule {}
