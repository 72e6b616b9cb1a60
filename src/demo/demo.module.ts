import { Module } from '@nestjs/common';
import { DemoData } from './demo-data.service.js';

@Module({ providers: [DemoData] })
export class DemoModule {}
