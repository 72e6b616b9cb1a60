import { Module } from '@nestjs/common';
import { GroupHooks } from './group.hooks.js';
import { HostHooks } from './host.hooks.js';
import { InventoryHooks } from './inventory.hooks.js';

@Module({ providers: [InventoryHooks, HostHooks, GroupHooks] })
export class InventoriesModule {}
