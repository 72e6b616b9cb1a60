import { Injectable, Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { Test } from '@nestjs/testing';
import { html, type Html } from './html.js';
import { PagePanel, Panels, type Panel, type PanelContext } from './panels.service.js';

@Injectable()
@PagePanel('job', 'project_update')
class Output implements Panel {
  render({ object }: PanelContext): Html | null {
    return object.status === 'running' ? html`<p>live</p>` : null;
  }
}

@Injectable()
@PagePanel('job')
class Actions implements Panel {
  readonly isFirst = true;

  render(): Html {
    return html`<p>cancel</p>`;
  }
}

@Module({ imports: [DiscoveryModule], providers: [Output, Actions, Panels] })
class Feature {}

const PLACE = {
  csrf: '',
  path: '/',
  origin: '',
  initialValues: {},
  query: {},
  sent: {},
  refusal: null,
};

describe('Panels', () => {
  it('renders the panels of a type, leading panels first, and none for other types', async () => {
    const module = await Test.createTestingModule({ imports: [Feature] }).compile();
    const panels = module.get(Panels);
    const actor = { id: 1, username: 'u', isSuperuser: false, isSystemAuditor: false };
    const draw = async (type: string, status: string): Promise<string[]> =>
      (await panels.render(type, { object: { status }, ...PLACE, actor })).map(String);
    expect(await draw('project_update', 'running')).toEqual(['<p>live</p>']);
    expect(await draw('project_update', 'failed')).toEqual([]);
    expect(await draw('team', 'running')).toEqual([]);
    expect(await draw('job', 'running')).toEqual(['<p>cancel</p>', '<p>live</p>']);
  });
});
