import { readdirSync, readFileSync } from 'node:fs'
import { buildSchema, type GraphQLInputObjectType } from 'graphql'
import { describe, expect, test } from 'vitest'
import { PAGE_LANGUAGES } from '../../console/src/parts/languages.ts'
import { LANGUAGES } from '../../src/languages/catalogs.ts'
import { getWords } from '../../src/languages/translations.ts'
import { ASKED_PROFILE_FIELDS } from '../../src/model/profile-fields.ts'
import { buildSamplePages } from '../../src/server/preview/preview.routes.ts'

const SCREENS = 'console/src/screens/'

/** Members of the input that no screen edits, each with the reason. */
const NOT_EDITED: Record<string, string> = {
  expectedUpdatedAt: 'comes with the settings that were read',
}

const sources = readdirSync(SCREENS, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.tsx'))
  .map((name) => readFileSync(SCREENS + name, 'utf8'))
  .join('\n')

const readScreen = (name: string): string => readFileSync(SCREENS + name, 'utf8')

describe('the screens of the settings', () => {
  test('edit every setting of a tenant', () => {
    const schema = buildSchema(readFileSync('schema.graphql', 'utf8'))
    const input = schema.getType('UpdateTenantSettingsInput') as GraphQLInputObjectType
    const members = Object.keys(input.getFields()).filter((name) => !(name in NOT_EDITED))
    expect(members.length).toBeGreaterThan(40)
    expect(
      members.filter((name) => !new RegExp(`\\bname="${name}"|useSetting\\('${name}'\\)`).test(sources)),
    ).toEqual([])
  })

  test('know the languages of the pages', () => {
    expect(Object.keys(PAGE_LANGUAGES).sort()).toEqual([...LANGUAGES].sort())
  })

  test('offer the fields that a sign-up can ask for', () => {
    const [, fields = ''] =
      /PROFILE_FIELDS[^{]*\{([^}]*)\}/.exec(readScreen('sign-in/sign-up-fields.tsx')) ?? []
    expect([...fields.matchAll(/(\w+):/g)].map(([, name]) => name)).toEqual([...ASKED_PROFILE_FIELDS])
  })

  test('preview pages of which the server has a sample', () => {
    const shown = [...readScreen('brand/brand-preview.tsx').matchAll(/'page\/([a-z-]+)':/g)]
    expect(shown.length).toBeGreaterThan(3)
    const samples = buildSamplePages(getWords('en'), { tenantId: 'acme' })
    for (const [, name = ''] of shown) expect(Object.keys(samples)).toContain(name)
  })
})
