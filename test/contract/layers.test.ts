import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { SIGN_IN_METHODS } from '../../src/model/sign-in-methods.ts'
import { replaceBlock } from '../support/documents.ts'
import { findCycles, type ImportEdge, listSources, readImports } from '../support/imports.ts'

/** What files of a role never import: files, by the end of their path, and libraries. */
const ROLE_RULES: { files: RegExp; neverImport: RegExp }[] = [
  {
    files: /\.graphql\.ts$/,
    neverImport: /\.(rest|routes|http)\.ts$|\.pages\.tsx$|\.sql\.ts$|^src\/database\/system\.ts$/,
  },
  {
    files: /\.(rest|routes|http)\.ts$|\.pages\.tsx$/,
    neverImport: /\.graphql\.ts$|\.sql\.ts$|^src\/database\/system\.ts$/,
  },
  { files: /\.(rest|graphql)\.ts$/, neverImport: /\.(rest|operations|routes)\.ts$|\.pages\.tsx$/ },
  { files: /\.operations\.ts$/, neverImport: /\.(rest|routes|http|sql)\.ts$|\.pages\.tsx$|^src\/database\// },
  { files: /\.fields\.ts$/, neverImport: /\.sql\.ts$|^src\/(database|events|delivery|coordination)\// },
]

/** The files that may import a library of a transport or a driver. */
const LIBRARY_FILES: { library: RegExp; files: RegExp }[] = [
  { library: /^pg$/, files: /^src\/database\// },
  { library: /^h3$/, files: /^src\/(app\.ts|rest\/)|\.(routes|http)\.ts$/ },
  {
    library: /^(graphql|graphql-yoga|graphql-ws|@pothos\/.*)(\/.*)?$/,
    files: /^src\/(graphql|operations|server)\/|\.graphql\.ts$/,
  },
  { library: /^preact/, files: /^src\/pages\/|\.pages\.tsx$/ },
  { library: /^ioredis$/, files: /^src\/coordination\// },
  { library: /^undici$/, files: /^src\/core\/network\/fetcher\.ts$/ },
]

/** A file that a transport calls, by its suffix. */
const ROLE_FILE = /\.(graphql|rest|operations|routes|http|pages)\.tsx?$/

const toLine = ({ from, line, to }: ImportEdge): string => `${from}:${line} imports ${to}`

/** The imports that the role of their file rules out, each as a line. */
function findRoleViolations(edges: readonly ImportEdge[]): string[] {
  return edges
    .filter(({ from, to }) =>
      ROLE_RULES.some(
        ({ files, neverImport }) => files.test(from) && neverImport.test(to) && !isSameRole(from, to),
      ),
    )
    .map(toLine)
}

/** REST files share shapes of REST files, as GraphQL files do. */
const isSameRole = (from: string, to: string): boolean =>
  ROLE_FILE.exec(from)?.[1] === ROLE_FILE.exec(to)?.[1]

/** The imports of libraries outside the files that may use them, each as a line. */
function findLibraryViolations(edges: readonly ImportEdge[]): string[] {
  return edges
    .filter(({ from, to }) =>
      LIBRARY_FILES.some(({ library, files }) => library.test(to) && !files.test(from)),
    )
    .map(toLine)
}

/** The imports that do not point to a lower floor, each as a line that names both sides. */
function findFloorViolations(
  edges: readonly ImportEdge[],
  floors: readonly string[][],
  toUnit: (file: string) => string,
): string[] {
  const level = new Map(floors.flatMap((floor, index) => floor.map((unit) => [unit, index] as const)))
  return edges.flatMap(({ from, line, to }) => {
    const [unit, target] = [toUnit(from), toUnit(to)]
    const isBelow = (level.get(unit) ?? Number.NaN) < (level.get(target) ?? Number.NaN)
    return unit === target || isBelow ? [] : [`${from}:${line} imports ${to} (${unit} → ${target})`]
  })
}

/**
 * The floors of `src/`, top down. A folder imports folders of lower floors only. `users*` names the role
 * files of `users/` (GraphQL, REST, routes, pages): they sit above the services of every domain.
 */
const FLOORS = [
  ['cli.ts'],
  ['main.ts'],
  ['app.ts', 'cli'],
  ['server'],
  ['jobs', 'dev'],
  [
    'oidc*',
    'account*',
    'consents*',
    'passcodes*',
    'invitations*',
    'lookup*',
    'bulk*',
    'permissions*',
    'webhooks*',
    'organization-setup*',
    'scim*',
    'signals*',
  ],
  [
    'registration*',
    'sessions*',
    'credentials*',
    'idps*',
    'events*',
    'sign-up*',
    'organizations*',
    'api-keys*',
  ],
  ['users*', 'clients*', 'tenants*'],
  ['keys*'],
  ['oidc', 'account', 'invitations', 'bulk', 'organization-setup', 'scim', 'signals'],
  ['registration', 'consents', 'passcodes'],
  ['sessions', 'credentials', 'idps', 'sign-up', 'api-keys'],
  ['users', 'clients', 'tenants', 'lookup', 'organizations', 'webhooks'],
  ['permissions', 'old-passwords'],
  ['operations'],
  ['graphql', 'rest', 'pages'],
  ['access'],
  ['keys'],
  ['events'],
  ['http', 'coordination', 'delivery'],
  ['context'],
  ['database'],
  ['schema'],
  ['languages'],
  ['model'],
  ['core'],
  ['generated'],
]

/** The floors inside `oidc/`. */
const OIDC_FLOORS = [
  ['oidc.routes.ts'],
  ['discovery', 'explain'],
  ['grants'],
  ['device'],
  ['signin', 'logout'],
  ['authorize', 'userinfo'],
  ['token'],
  ['client-auth', 'interactions'],
  ['model'],
]

/** The floors inside `oidc/signin/`. The files of the folder itself are at the top; each method has a folder. */
const SIGN_IN_FLOORS = [['signin'], ['sign-up', 'second-factor'], [...SIGN_IN_METHODS, 'terms'], ['step']]

const isOnFloor = (unit: string): boolean => FLOORS.some((floor) => floor.includes(unit))

/** The unit of the table that a file belongs to. */
function findUnit(file: string): string {
  const folder = file.split('/')[1] as string
  return ROLE_FILE.test(file) && isOnFloor(`${folder}*`) ? `${folder}*` : folder
}

const findOidcUnit = (file: string): string => file.split('/')[2] as string

const findSignInUnit = (file: string): string => file.split('/').at(-2) as string

const DOCUMENT = 'docs/architecture.md'

/** The floors as a table of Markdown. */
const toTable = (floors: readonly string[][]): string =>
  [
    '| Floor | Folders and files |',
    '|---|---|',
    ...floors.map((units, index) => `| ${index + 1} | ${units.map((unit) => `\`${unit}\``).join(', ')} |`),
  ].join('\n')

describe('the floors', () => {
  test(`are those of ${DOCUMENT}, which -u rewrites`, async () => {
    const blocks = { floors: FLOORS, 'oidc floors': OIDC_FLOORS, 'sign-in floors': SIGN_IN_FLOORS }
    const text = Object.entries(blocks).reduce(
      (document, [name, floors]) => replaceBlock(document, name, toTable(floors)),
      readFileSync(DOCUMENT, 'utf8'),
    )
    await expect(text).toMatchFileSnapshot(`../../${DOCUMENT}`)
  })

  test(`have folders whose contents ${DOCUMENT} names`, () => {
    const listed = [...readFileSync(DOCUMENT, 'utf8').matchAll(/^\| `([\w-]+)` \|/gm)].map(([, name]) => name)
    const folders = FLOORS.flat().filter((unit) => !/[.*]/.test(unit))
    expect(folders.filter((folder) => !listed.includes(folder))).toEqual([])
  })
})

describe('the imports of src/', () => {
  const all = readImports(listSources())
  const edges = all.filter(({ to }) => to.startsWith('src/'))
  const inOidc = edges.filter(({ from, to }) => [from, to].every((file) => file.startsWith('src/oidc/')))

  test('are all found', () => {
    expect(edges.length).toBeGreaterThan(1500)
    expect(inOidc.length).toBeGreaterThan(150)
  })

  test('point to a lower floor, types included', () => {
    expect(findFloorViolations(edges, FLOORS, findUnit)).toEqual([])
  })

  test('point to a lower floor inside oidc/', () => {
    expect(findFloorViolations(inOidc, OIDC_FLOORS, findOidcUnit)).toEqual([])
  })

  test('point to a lower floor inside oidc/signin/', () => {
    const inSignIn = inOidc.filter(({ from, to }) =>
      [from, to].every((file) => file.startsWith('src/oidc/signin/')),
    )
    expect(inSignIn.length).toBeGreaterThan(80)
    expect(findFloorViolations(inSignIn, SIGN_IN_FLOORS, findSignInUnit)).toEqual([])
  })

  test('obey the role of the file', () => {
    expect(findRoleViolations(edges)).toEqual([])
    expect(
      findRoleViolations([{ from: 'src/users/users.rest.ts', line: 1, to: 'src/users/users.sql.ts' }]),
    ).toHaveLength(1)
  })

  test('reach the libraries of transports and drivers from their own files only', () => {
    expect(findLibraryViolations(all)).toEqual([])
    expect(findLibraryViolations([{ from: 'src/users/users.ts', line: 1, to: 'h3' }])).toHaveLength(1)
  })

  test('form no cycle of files', () => {
    expect(findCycles(edges)).toEqual([])
  })

  test('are reported with the file and the line when they point up', () => {
    const upward: ImportEdge = { from: 'src/core/log.ts', line: 3, to: 'src/users/users.ts' }
    expect(findFloorViolations([upward], FLOORS, findUnit)).toEqual([
      'src/core/log.ts:3 imports src/users/users.ts (core → users)',
    ])
    expect(findCycles([upward, { from: upward.to, line: 1, to: upward.from }])).toHaveLength(1)
  })
})
