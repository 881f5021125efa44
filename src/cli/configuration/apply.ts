import { type AppError, type FieldIssue, InvalidInput } from '../../core/errors.ts'
import { toAppError } from '../../core/to-app-error.ts'
import {
  type Body,
  type Call,
  getRoute,
  listPathParams,
  type PublicApi,
  prefixFields,
} from '../api/public-api.ts'
import { SETTINGS_ROUTES } from './kinds.ts'
import type { Step } from './plan.ts'
import { findReferences, type Ids, resolveIds, toReference } from './references.ts'

/** A step that was done. `secret` is that of a new client or webhook, which is shown once. */
export type Done = Pick<Step, 'key' | 'action'> & { section: string; secret?: string }

async function sendStep(call: Call, { kind, action, id, body, held, key }: Step, ids: Ids): Promise<Done> {
  const section = kind?.section ?? 'settings'
  const resolved = resolveIds(body, ids) as Body
  if (!kind) {
    await call(SETTINGS_ROUTES.update.operationId, { body: resolved })
    return { section, key, action }
  }
  const { create, update, remove, param } = kind
  const params = { [param]: id ?? '' }
  if (action === 'delete') {
    await call(remove.operationId, { params })
    return { section, key, action }
  }
  let created: Body = {}
  if (action === 'create') created = (await call(create.operationId, { body: resolved })).body
  else if (Object.keys(resolved).length > 0) await call(update.operationId, { params, body: resolved })
  const objectId = id ?? String(created.id)
  ids.set(toReference(section, key), objectId)
  if (held !== undefined && kind.held) {
    const [name = ''] = listPathParams(getRoute(kind.held.set))
    await call(kind.held.set, { params: { [name]: objectId }, body: { appRoleIds: resolveIds(held, ids) } })
  }
  const { secret } = created
  return { section, key, action, ...(typeof secret === 'string' && { secret }) }
}

/** What became of the steps: those that were done, and why others were not. */
export type Outcome = { done: Done[]; error: AppError | null }

/**
 * Sends the steps. Goes on after one that is rejected, without those that name its object, so that the error names every
 * rejected member by its path. Stops when the server does not answer or the token is not valid.
 */
async function sendSteps(call: Call, steps: readonly Step[], ids: Ids): Promise<Outcome> {
  const done: Done[] = []
  const fields: FieldIssue[] = []
  for (const step of steps) {
    const names = [...findReferences(step.body), ...findReferences(step.held)]
    if (!names.every((name) => ids.has(name))) continue
    try {
      done.push(await sendStep(call, step, ids))
    } catch (thrown) {
      const error = toAppError(thrown)
      if (error.status >= 500 || error.status === 401) return { done, error }
      fields.push(...prefixFields(error, step.path))
    }
  }
  return { done, error: fields.length > 0 ? new InvalidInput(fields, 'The file was rejected.') : null }
}

/**
 * Makes a tenant what the steps say. On the database, it throws when a step fails, and nothing is changed. Over the public
 * API, the steps that succeeded stay, and the same command continues.
 */
export const applySteps = (api: PublicApi, steps: readonly Step[], ids: Ids): Promise<Outcome> =>
  api.atomically(async (call) => {
    const outcome = await sendSteps(call, steps, new Map(ids))
    if (outcome.error && api.isAtomic) throw outcome.error
    return outcome
  })
