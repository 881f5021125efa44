import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Kind } from '../../console/src/screens/applications/kinds.ts'

/** An application of `examples/`. Its text is in its README, its packages where its language has them. */
export type Example = {
  /** The name of its folder and of its page in docs/quickstarts. */
  id: string
  /** The kind in the wizard, which has no others. */
  kind?: Kind
  /** The options of `vestibule client create`, but for the tenant and the redirect URI. */
  client: string
  redirectUri?: string
  /** The files that a reader writes, in their order; those of packages are left out. */
  files: readonly string[]
  /** The commands before it is started, if they are not those of its packages. */
  install?: string
  run: string
  /** The programs that it needs besides Node. */
  needs?: readonly string[]
  /** The major version of Node that it needs, if that of this project is too old. */
  node?: number
  /** The address of a server without a redirect URI. */
  address?: string
  /** It was never run. */
  isUntried?: true
}

/** In the order of the wizard, whose first entry of a kind is shown at first. */
export const EXAMPLES: readonly Example[] = [
  {
    id: 'next',
    kind: 'web',
    client: '--template web',
    redirectUri: 'http://localhost:4000/api/auth/callback/vestibule',
    files: ['.env', 'app/api/auth/[...nextauth]/route.js', 'app/layout.js', 'app/page.js'],
    run: 'npx next dev --port 4000',
  },
  {
    id: 'express',
    kind: 'web',
    client: '--template web',
    redirectUri: 'http://localhost:4000/callback',
    files: ['.env', 'server.mjs'],
    run: 'node --env-file=.env server.mjs',
  },
  {
    id: 'fastapi',
    kind: 'web',
    client: '--template web',
    redirectUri: 'http://localhost:8000/callback',
    files: ['.env', 'main.py'],
    needs: ['python3'],
    run: 'uvicorn main:app --env-file .env --port 8000',
  },
  {
    id: 'go',
    kind: 'web',
    client: '--template web',
    redirectUri: 'http://localhost:4000/callback',
    files: ['.env', 'main.go'],
    needs: ['go'],
    run: 'env $(cat .env) go run .',
  },
  {
    id: 'spring',
    kind: 'web',
    client: '--template web',
    redirectUri: 'http://localhost:8080/login/oauth2/code/vestibule',
    files: ['.env', 'pom.xml', 'src/main/resources/application.yml', 'src/main/java/example/App.java'],
    needs: ['mvn'],
    run: 'mvn spring-boot:run',
  },
  {
    id: 'aspnet',
    kind: 'web',
    client: '--template web',
    redirectUri: 'http://localhost:5000/signin-oidc',
    files: ['Program.cs'],
    install: 'dotnet new web\ndotnet add package Microsoft.AspNetCore.Authentication.OpenIdConnect',
    run: 'CLIENT_SECRET=your-client-secret dotnet run --urls http://localhost:5000',
    isUntried: true,
  },
  {
    id: 'react',
    kind: 'single-page',
    client: '--template spa',
    redirectUri: 'http://localhost:5173/callback',
    files: ['index.html', 'src/auth.js', 'src/main.jsx'],
    run: 'npx vite --port 5173',
  },
  {
    id: 'angular',
    kind: 'single-page',
    client: '--template spa',
    redirectUri: 'http://localhost:4200/callback',
    files: [
      'angular.json',
      'tsconfig.json',
      'src/index.html',
      'src/main.ts',
      'src/app/app.config.ts',
      'src/app/app.ts',
    ],
    node: 24,
    run: 'npx ng serve --port 4200',
  },
  {
    id: 'native',
    kind: 'native',
    client: '--template native',
    redirectUri: 'http://127.0.0.1/callback',
    files: ['sign-in.mjs'],
    run: 'node sign-in.mjs',
  },
  {
    id: 'device',
    kind: 'device',
    client: '--template device',
    files: ['sign-in.mjs'],
    run: 'node sign-in.mjs',
  },
  {
    id: 'device-curl',
    kind: 'device',
    client: '--template device',
    files: ['sign-in.sh'],
    needs: ['curl'],
    run: 'bash sign-in.sh',
  },
  {
    id: 'machine-curl',
    kind: 'machine',
    client: '--template machine',
    files: ['.env', 'token.sh'],
    needs: ['curl'],
    run: 'bash token.sh',
  },
  {
    id: 'machine',
    kind: 'machine',
    client: '--template machine',
    files: ['.env', 'token.mjs'],
    run: 'node --env-file=.env token.mjs',
  },
  {
    id: 'machine-python',
    kind: 'machine',
    client: '--template machine',
    files: ['.env', 'token_example.py'],
    needs: ['python3'],
    run: 'python token_example.py',
  },
  {
    id: 'api-express',
    client: `--template machine --name API --set 'resources=["http://localhost:8001"]'`,
    address: 'http://localhost:8001',
    files: ['.env', 'server.mjs'],
    run: 'node --env-file=.env server.mjs',
  },
  {
    id: 'api-fastapi',
    client: `--template machine --name API --set 'resources=["http://localhost:8001"]'`,
    address: 'http://localhost:8001',
    files: ['.env', 'main.py'],
    needs: ['python3'],
    run: 'uvicorn main:app --env-file .env --port 8001',
  },
  {
    id: 'api-go',
    client: `--template machine --name API --set 'resources=["http://localhost:8001"]'`,
    address: 'http://localhost:8001',
    files: ['.env', 'main.go'],
    needs: ['go'],
    run: 'env $(cat .env) go run .',
  },
  {
    id: 'mcp',
    client: `--template machine --name Directory --set 'resources=["http://localhost:3001"]'`,
    address: 'http://localhost:3001',
    files: ['.env', 'server.mjs'],
    run: 'node --env-file=.env server.mjs',
  },
  {
    id: 'oauth2-proxy',
    client: '--template web',
    redirectUri: 'http://localhost:4180/oauth2/callback',
    files: ['oauth2-proxy.cfg', 'public/index.html'],
    install: 'go install github.com/oauth2-proxy/oauth2-proxy/v7@v7.15.6',
    needs: ['go'],
    run: 'oauth2-proxy --config oauth2-proxy.cfg --upstream "file://$PWD/public/#/"',
  },
  {
    id: 'openfga',
    client: '--template machine --scopes events:read',
    address: 'http://localhost:8080',
    files: ['.env', 'model.json', 'sync.mjs'],
    install: 'npm install openid-client@6.8.9\ngo install github.com/openfga/openfga/cmd/openfga@v1.22.1',
    needs: ['go'],
    run: 'openfga run --http-addr localhost:8080 --grpc-addr localhost:0 --metrics-enabled=false --log-level warn &\nuntil curl -sf http://localhost:8080/healthz; do sleep 1; done\nnode --env-file=.env sync.mjs',
  },
  {
    id: 'admin-table',
    client: '--template spa --scopes users:read,users:write',
    redirectUri: 'http://localhost:5173/callback',
    files: [
      'vite.config.js',
      'relay.config.json',
      'index.html',
      'src/auth.js',
      'src/environment.js',
      'src/main.jsx',
    ],
    run: 'npx relay-compiler\nnpx vite --port 5173',
  },
]

export const FOLDER = 'examples'

const readText = (example: Example, name: string): string =>
  readFileSync(join(FOLDER, example.id, name === '.env' ? '.env.example' : name), 'utf8')

/** The lines that mark a part of a file for other places. */
const MARKER = /^.*#(?:region|endregion).*\n/gm

/** A file of an example as its reader writes it, with the values of the demo tenant. */
export const readFile = (example: Example, name: string): string =>
  readText(example, name).replace(MARKER, '')

/** The part of a file between `#region connect` and `#endregion`. */
export function readConnection(example: Example): { file: string; text: string } | undefined {
  for (const file of example.files) {
    const text = /#region connect.*\n([\s\S]*?)^.*#endregion/m.exec(readText(example, file))?.[1]
    if (text) return { file, text }
  }
  return undefined
}

/**
 * The README of an example: its title, what it is, how to try it if that is not a sign-in in the browser, and what its reader
 * should know afterwards.
 */
export function readReadme(example: Example): {
  title: string
  intro: string
  attempt: string
  notes: string
} {
  const text = readFileSync(join(FOLDER, example.id, 'README.md'), 'utf8')
  const [start = '', ...sections] = text.split(/^## /m)
  const readSection = (name: string): string =>
    sections.find((section) => section.startsWith(`${name}\n`))?.slice(name.length) ?? ''
  const [, title = '', intro = ''] = /^# (.*)\n([\s\S]*)$/.exec(start) ?? []
  return { title, intro, attempt: readSection('Try it'), notes: readSection('Notes') }
}

const readJson = (path: string) => JSON.parse(readFileSync(path, 'utf8'))

/** The commands that install the packages of an example into an empty folder. */
export function describeInstallation(example: Example): string {
  if (example.install !== undefined) return example.install
  const locate = (name: string) => join(FOLDER, example.id, name)
  const withVersions = (packages: Record<string, string> = {}) =>
    Object.entries(packages)
      .map(([name, version]) => `${name}@${version}`)
      .join(' ')
  if (existsSync(locate('package.json'))) {
    const { dependencies, devDependencies } = readJson(locate('package.json'))
    const development = devDependencies && `\nnpm install -D ${withVersions(devDependencies)}`
    return `npm install ${withVersions(dependencies)}${development ?? ''}`
  }
  if (existsSync(locate('requirements.txt')))
    return `pip install ${readFileSync(locate('requirements.txt'), 'utf8').trim().split('\n').join(' ')}`
  if (existsSync(locate('go.mod'))) {
    const required = readFileSync(locate('go.mod'), 'utf8').matchAll(/^(?:\t|require )(\S+) (v\S+)$/gm)
    return `go mod init example.com/app\ngo get ${[...required].map(([, name, version]) => `${name}@${version}`).join(' ')}`
  }
  return ''
}

/** The values of the demo tenant, which the examples have. */
export const DEMO_FACTS = {
  issuer: 'http://localhost:3000/demo',
  clientId: 'your-client-id',
  clientSecret: 'your-client-secret',
}

/** Puts marks in the place of the values that an application of somebody else has. */
export function toTemplate(example: Example, text: string): string {
  let marked = text
    .replaceAll(DEMO_FACTS.issuer, '%ISSUER%')
    .replaceAll(DEMO_FACTS.clientId, '%CLIENT_ID%')
    .replaceAll(DEMO_FACTS.clientSecret, '%CLIENT_SECRET%')
  const { redirectUri, address } = example
  if (redirectUri) marked = marked.replaceAll(redirectUri, '%REDIRECT_URI%')
  const { origin, pathname, port } = new URL(redirectUri ?? address ?? 'http://localhost')
  if (port) marked = marked.replaceAll(origin, '%ORIGIN%').replace(new RegExp(`\\b${port}\\b`, 'g'), '%PORT%')
  return redirectUri ? marked.replaceAll(`"${pathname}"`, '"%PATH%"') : marked
}
