import { InvalidInput } from '../core/errors.ts'
import { parseExactJson } from '../core/exact-json.ts'
import { isJsonObject } from '../core/json-object.ts'
import { toSettings, updateSettings } from '../tenants/settings.ts'
import { createTenantCtx, defineDatabaseCommand, formatTable } from './command.ts'

/** The settings of `--set`; none without it. */
function parseSettings(text: string | undefined): object {
  if (text === undefined) return {}
  try {
    const settings: unknown = parseExactJson(text)
    if (isJsonObject(settings)) return settings
  } catch {
    // The error below says what is expected.
  }
  throw new InvalidInput(
    [{ field: 'set', description: 'must be a JSON object such as {"passcodeChannels":["email"]}' }],
    'The command is not valid.',
  )
}

export const settingsCommand = defineDatabaseCommand({
  name: 'settings',
  description: 'Show the settings of a tenant, or change some of them',
  args: {
    slug: { type: 'positional', required: true, description: 'The tenant' },
    set: { type: 'string', description: 'Settings to change, as a JSON object' },
  },
  run: async ({ slug, set }) => {
    const changes = parseSettings(set)
    const settings = toSettings(await updateSettings(await createTenantCtx(slug), changes))
    const rows = Object.entries(settings).map(([name, value]) => [name, JSON.stringify(value)])
    return { text: formatTable([['SETTING', 'VALUE'], ...rows]), json: settings }
  },
})
