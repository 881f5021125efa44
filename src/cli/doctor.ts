import { env } from '../core/env.ts'
import { defineReportingCommand, formatTable } from './command.ts'
import { sendTestMessage } from './doctor/messages.ts'
import { runChecks } from './doctor/run-checks.ts'

const STATES = { ok: 'ok', warning: 'WARNING', failure: 'FAILURE' } as const

export const doctorCommand = defineReportingCommand({
  name: 'doctor',
  description: 'Check configuration, database, Redis, mail, BASE_URL, keys and queues, and say what to do',
  args: {
    'send-to': {
      type: 'string',
      description: 'Send a message to this e-mail address or number in E.164 too',
    },
  },
  run: async ({ 'send-to': to }) => {
    const findings = [...(await runChecks(env)), ...(to ? await sendTestMessage(to) : [])]
    const rows = findings.map(({ check, state, found, action }) => [
      STATES[state],
      check,
      action ? `${found}. ${action}` : found,
    ])
    const isFailure = findings.some(({ state }) => state === 'failure')
    return {
      text: formatTable([['STATE', 'CHECK', 'FOUND'], ...rows]),
      json: { healthy: !isFailure, findings },
      exitCode: isFailure ? 1 : 0,
    }
  },
})
