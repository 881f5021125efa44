import { readFile, writeFile } from 'node:fs/promises'
import { text as readStream } from 'node:stream/consumers'
import { InvalidInput } from '../core/errors.ts'
import { defineApiCommand } from './api/api-command.ts'
import type { PublicApi } from './api/public-api.ts'
import { formatTable, toErrorReport } from './command.ts'
import { applySteps } from './configuration/apply.ts'
import { readConfiguration, writeConfiguration } from './configuration/file.ts'
import { planSteps, type Step } from './configuration/plan.ts'
import { readState, toConfiguration } from './configuration/state.ts'
import { createFileError } from './file-errors.ts'

const FILE_ARG = {
  type: 'positional',
  required: true,
  description: 'YAML; - is standard input or output',
} as const
const PLAN_ARGS = {
  file: FILE_ARG,
  prune: { type: 'boolean', description: 'Delete what the sections of the file lack' },
  'update-secrets': { type: 'boolean', description: 'Send secrets also where there are some already' },
} as const
const MAX_FILE_BYTES = 5_000_000
/** Of `diff` when the tenant is not what the file says. */
const DIFFERENT = 2

async function readText(path: string): Promise<string> {
  const text = await (path === '-' ? readStream(process.stdin) : readFile(path, 'utf8')).catch(
    (error: unknown) => {
      throw createFileError('file', error, 'read')
    },
  )
  if (Buffer.byteLength(text) > MAX_FILE_BYTES)
    throw new InvalidInput(
      [{ field: 'file', description: `must have at most ${MAX_FILE_BYTES} bytes` }],
      'The command is not valid.',
    )
  return text
}

type PlanArgs = { file: string; prune?: boolean; 'update-secrets'?: boolean }

async function plan(api: PublicApi, { file, prune, 'update-secrets': updateSecrets }: PlanArgs) {
  const configuration = readConfiguration(await readText(file))
  const state = await readState(api.call)
  const options = {
    prune: prune === true,
    updateSecrets: updateSecrets === true,
    callerId: api.callerId,
  }
  return { steps: planSteps(configuration, state, options), ids: state.ids }
}

const toSection = ({ kind }: Step): string => kind?.section ?? 'settings'

const toChange = (step: Step) => ({
  section: toSection(step),
  key: step.key,
  action: step.action,
  fields: step.differences,
})

const formatValue = (value: unknown): string => (value === undefined ? '-' : JSON.stringify(value))

function formatSteps(steps: readonly Step[]): string {
  if (steps.length === 0) return 'No differences.'
  const rows = steps.flatMap((step) => {
    const head = [step.action, toSection(step), step.key]
    if (step.action !== 'update') return [[...head, '', '', '']]
    return step.differences.map(({ member, from, to }) => [
      ...head,
      member,
      formatValue(from),
      formatValue(to),
    ])
  })
  return formatTable([['ACTION', 'SECTION', 'KEY', 'MEMBER', 'IS', 'WILL BE'], ...rows])
}

export const exportConfigurationCommand = defineApiCommand({
  name: 'export',
  description: 'Write the configuration of a tenant as YAML, without secrets',
  args: { file: FILE_ARG },
  run: async (api, { file }) => {
    const yaml = writeConfiguration(toConfiguration(await readState(api.call)))
    if (file === '-') process.stdout.write(yaml)
    else
      await writeFile(file, yaml, { mode: 0o600 }).catch((error: unknown) => {
        throw createFileError('file', error, 'write')
      })
    return { text: `Exported to ${file}.`, json: { file }, hasWrittenOutput: file === '-' }
  },
})

export const diffConfigurationCommand = defineApiCommand({
  name: 'diff',
  description: 'Show what apply would change; exits with 2 when the tenant is not what the file says',
  args: PLAN_ARGS,
  run: async (api, args) => {
    const { steps } = await plan(api, args)
    return {
      text: formatSteps(steps),
      json: { changes: steps.map(toChange) },
      exitCode: steps.length > 0 ? DIFFERENT : 0,
    }
  },
})

export const applyConfigurationCommand = defineApiCommand({
  name: 'apply',
  description: 'Make a tenant what the file says; prints secrets of new clients and webhooks once',
  args: PLAN_ARGS,
  run: async (api, args) => {
    const { steps, ids } = await plan(api, args)
    const { done, error } = await applySteps(api, steps, ids)
    const rows = done.map(({ action, section, key, secret = '' }) => [action, section, key, secret])
    const lines = [
      steps.length === 0
        ? 'Nothing to change.'
        : formatTable([['ACTION', 'SECTION', 'KEY', 'SECRET'], ...rows]),
      ...(error
        ? [
            `${error.message} ${done.length} of ${steps.length} changes were made; the same command continues.`,
            ...error.fields.map(({ field, description }) => `  ${field}: ${description}`),
          ]
        : []),
    ]
    return {
      text: lines.join('\n'),
      json: { changes: done, ...(error && { error: toErrorReport(error) }) },
      exitCode: error ? 1 : 0,
    }
  },
})
