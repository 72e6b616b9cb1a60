import { Body, Controller, Get, Post } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Actor } from '../../common/access.js';
import { BadRequest } from '../../common/errors/errors.js';
import * as json from '../../common/fields/json-schema.js';
import type { Reply } from '../../common/http/reply.js';
import { CurrentActor, ListParams } from '../../common/rest/parameters.js';
import { Route } from '../../common/rest/route.js';
import { valuesOf, type QueryParameters } from '../../common/list/query.js';
import { isLocalPath } from '../shared/browser-form.js';
import { PAGE_ROUTE, pageReply, csrfInput, page } from '../shared/layout.js';
import type { PageContext } from '../shared/page-context.js';
import { OpenedPage } from '../shared/page-parameter.js';
import { Char, Choices, Text } from '../../common/fields/field.js';
import { SelectionService, type SelectionAction, type Selected } from './selection.service.js';
import { hiddenInput, html, type Html, type HtmlValue } from '../shared/html.js';
import { labelFor } from '../shared/labels.js';

/** The form of the confirmation page. */
class SelectionRequest {
  @Choices(
    [
      ['cancel', 'Cancel'],
      ['delete', 'Delete'],
    ],
    { required: true, help: 'Action on the objects.' },
  )
  action!: 'cancel' | 'delete';

  @Text({ required: true, help: 'Types and ids of objects, such as `job.7,job.8`.' })
  at!: string;

  @Char({ max: 2000, help: 'Path of the list.' })
  back!: string;
}

/** Cancels or deletes the selected rows of a list, after a page that names them. */
@ApiTags('root')
@Controller('selection')
export class SelectionController {
  constructor(private readonly selection: SelectionService) {}

  @Route({
    ...PAGE_ROUTE,
    operationId: 'selection_confirm',
    summary: 'Show the confirmation page.',
    query: [
      { name: 'action', description: '`cancel` or `delete`.', schema: json.STRING },
      {
        name: 'at',
        description: 'Type and id of an object, such as `job.7`.',
        schema: json.STRING,
      },
      { name: 'back', description: 'Path of the list.', schema: json.STRING },
    ],
  })
  @Get()
  async confirm(
    @OpenedPage() page: PageContext,
    @ListParams() query: QueryParameters,
    @CurrentActor() actor: Actor,
  ): Promise<Reply> {
    const action = actionOf(valuesOf(query.action)[0]);
    const selected = await this.selection.find(valuesOf(query.at), action, actor);
    const back = backOf(valuesOf(query.back)[0]);
    return pageReply(confirmationPage(page, { action, selected, back }));
  }

  @Route({
    ...PAGE_ROUTE,
    kind: 'action',
    operationId: 'selection_perform',
    summary: 'Cancel or delete the objects that the form names.',
    status: 200,
  })
  @Post()
  async perform(
    @OpenedPage() page: PageContext,
    @Body() { action, at, back }: SelectionRequest,
    @CurrentActor() actor: Actor,
  ): Promise<Reply> {
    const selected = await this.selection.perform(at.split(','), action, actor);
    return pageReply(resultPage(page, { action, selected, back: backOf(back) }));
  }
}

function actionOf(value: unknown): SelectionAction {
  if (value === 'cancel' || value === 'delete') return value;
  throw new BadRequest('action must be cancel or delete.');
}

const backOf = (value: unknown): string => (isLocalPath(value) ? value : '/');

const VERBS = { cancel: ['Cancel', 'Canceled'], delete: ['Delete', 'Deleted'] } as const;

interface SelectionParts {
  action: SelectionAction;
  selected: readonly Selected[];
  /** Path of the list. */
  back: string;
}

const nounFor = ({ action, selected: { length } }: SelectionParts): string => {
  const noun = action === 'cancel' ? 'run' : 'object';
  return length === 1 ? `1 ${noun}` : `${length} ${noun}s`;
};

/** Renders the page that asks for confirmation and names the selected objects. */
function confirmationPage(context: PageContext, parts: SelectionParts): string {
  const { action, selected, back } = parts;
  const [verb] = VERBS[action];
  const open = selected.filter(({ refusal }) => refusal === null);
  const title = `${verb} ${nounFor({ ...parts, selected: open })}?`;
  return page({
    context,
    title,
    narrow: true,
    content: html`<h1>${title}</h1>
      <form class="card" method="post" action="/selection/">
        ${csrfInput(context.csrf)} ${hiddenInput('action', action)} ${hiddenInput('back', back)}
        ${hiddenInput('at', open.map(({ definition, id }) => `${definition.type}.${id}`).join(','))}
        ${selectedList(open)} ${refusedList(selected)}
        ${action === 'delete' && html`<p>This cannot be undone.</p>`}
        <div class="actions">
          ${open.length > 0 && html`<button class="danger">${verb} ${nounFor({ ...parts, selected: open })}</button>`}
          <a class="button quiet" href="${back}">Back to the list</a>
        </div>
      </form>`,
  });
}

/** Renders the result of the action, with the reason for each object that was refused. */
function resultPage(context: PageContext, parts: SelectionParts): string {
  const { action, selected, back } = parts;
  const done = selected.filter(({ refusal }) => refusal === null);
  const title = `${VERBS[action][1]} ${done.length} of ${nounFor(parts)}`;
  return page({
    context,
    title,
    narrow: true,
    content: html`<h1>${title}</h1>
      <div class="card">
        ${selectedList(done)} ${refusedList(selected)}
        <p><a class="button" href="${back}">Back to the list</a></p>
      </div>`,
  });
}

const selectedList = (selected: readonly Selected[]): Html =>
  html`<ul>
    ${selected.map(({ name, definition }) => html`<li>${name} <small>${labelFor(definition.type)}</small></li>`)}
  </ul>`;

function refusedList(selected: readonly Selected[]): HtmlValue {
  const refused = selected.filter(({ refusal }) => refusal !== null);
  return (
    refused.length > 0 &&
    html`<div class="message error" role="alert">
      <p>Not permitted or not possible:</p>
      <ul>
        ${refused.map(({ name, refusal }) => html`<li>${name}: ${refusal}</li>`)}
      </ul>
    </div>`
  );
}
