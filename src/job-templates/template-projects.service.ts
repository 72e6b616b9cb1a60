import { Injectable } from '@nestjs/common';
import { listPlaybooks } from '../projects/project-files.js';
import { ProjectFolders } from '../projects/project-folders.service.js';
import { JobTemplatesRepository, type ProjectOfTemplate } from './job-templates.repository.js';

/** A project with the data for checks of its job templates. */
export interface TemplateProject extends ProjectOfTemplate {
  /** Playbooks; null before the first sync, or if the folder does not exist. */
  readonly playbooks: readonly string[] | null;
}

/**
 * Reads the projects of job templates. The playbooks of a synced project are in its row, those of a
 * manual project in its folder.
 */
@Injectable()
export class TemplateProjects {
  constructor(
    private readonly templates: JobTemplatesRepository,
    private readonly folders: ProjectFolders,
  ) {}

  async find(id: unknown): Promise<TemplateProject | null> {
    const project = typeof id === 'number' ? await this.templates.project(id) : undefined;
    return project ? { ...project, playbooks: await this.playbooksOf(project) } : null;
  }

  private async playbooksOf(project: ProjectOfTemplate): Promise<readonly string[] | null> {
    const { playbook_files: files, local_path: path } = project;
    const hasSynced = project.scm_revision !== '' || files.length > 0;
    if (project.scm_type !== '') return hasSynced ? files : null;
    return (await this.folders.exists(path)) ? listPlaybooks(this.folders.path(path)) : null;
  }
}
