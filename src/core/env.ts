import { randomBytes } from 'node:crypto'
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod'
import { findUnknownVariables } from './unknown-variables.ts'
import {
  booleanFlag,
  createChoice,
  createCount,
  createUrl,
  dnsServerList,
  domainList,
  encryptionKey,
  hostList,
  originList,
  share,
} from './variable-shapes.ts'

/**
 * Creates a development secret once and stores it in DATA_DIR, so that values made with it survive a restart.
 */
export function ensureDevelopmentSecret(dataDir: string, name: string): string {
  const file = join(dataDir, name)
  if (existsSync(file)) return readFileSync(file, 'utf8').trim()
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  const secret = randomBytes(32).toString('base64url')
  try {
    writeFileSync(file, `${secret}\n`, { mode: 0o600, flag: 'wx' })
  } catch (error) {
    // Another process created the file first; its secret is used.
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return readFileSync(file, 'utf8').trim()
    throw error
  }
  chmodSync(file, 0o600)
  return secret
}

const MAIL_FROM_PATTERN = /^(?:[^<>@\r\n]*<[^\s<>@,]+@[^\s<>@,]+>|[^\s<>@,]+@[^\s<>@,]+)$/

const variables = z.object({
  NODE_ENV: createChoice('development', 'test', 'production').default('development'),
  PORT: createCount(65_535).default(3000),
  HOST: z.string().optional(),
  BASE_URL: createUrl('http:', 'https:')
    .refine(
      (value) => !URL.canParse(value) || new URL(value).href === `${new URL(value).origin}/`,
      'must be an origin without a path',
    )
    .transform((value) => new URL(value).origin)
    .optional(),
  PASSKEY_ORIGINS: originList.default([]),
  // Unset: src/database/embedded runs PostgreSQL on data below DATA_DIR.
  DATABASE_URL: createUrl('postgresql:', 'postgres:').optional(),
  DATABASE_CONNECTIONS: createCount(1000)
    .refine((value) => value >= 5, 'must be at least 5')
    .default(10),
  DATABASE_POOLER: booleanFlag.default(false),
  DATA_DIR: z.string().default('.vestibule'),
  REDIS_URL: createUrl('redis:', 'rediss:').optional(),
  REDIS_SENTINELS: hostList.optional(),
  REDIS_PREFIX: z
    .string()
    .regex(/^[\w.-]{1,100}$/, 'must have letters, digits, ".", "_" and "-" only, 100 at most')
    .default('vestibule'),
  ENCRYPTION_KEY: encryptionKey.optional(),
  SMTP_URL: createUrl('smtp:', 'smtps:').optional(),
  MAIL_FROM: z
    .string()
    .regex(MAIL_FROM_PATTERN, 'must be an e-mail address, or a name and an address in angle brackets')
    .default('Vestibule <no-reply@localhost>'),
  MAIL_DOMAINS: domainList.default([]),
  SMS_URL: createUrl('http:', 'https:').optional(),
  SMS_TOKEN: z.string().optional(),
  BOOTSTRAP_CLIENT_ID: z.string().optional(),
  BOOTSTRAP_CLIENT_SECRET: z.string().min(32, 'must have at least 32 characters').optional(),
  DEMO: booleanFlag.optional(),
  CONSOLE: booleanFlag.default(true),
  TRUST_PROXY: createCount(16).default(0),
  FETCH_PRIVATE: booleanFlag.optional(),
  WORKERS: createCount(64)
    .refine((value) => value > 0, 'must be at least 1')
    .default(1),
  RATE_LIMIT: createCount(1_000_000_000)
    .refine((value) => value > 0, 'must be at least 1')
    .default(60_000),
  NETWORK_STORAGE_MB: createCount(100_000)
    .refine((value) => value > 0, 'must be at least 1')
    .default(8),
  SUBSCRIPTIONS: createCount(1_000_000)
    .refine((value) => value > 0, 'must be at least 1')
    .default(5000),
  GRANTS_PER_HOUR: createCount(1_000_000_000)
    .refine((value) => value > 0, 'must be at least 1')
    .default(300),
  ANSWER_MB: createCount(100_000)
    .refine((value) => value >= 64, 'must be at least 64')
    .default(128),
  GEOIP_DB: z.string().optional(),
  DNS_SERVERS: dnsServerList.optional(),
  LOG_LEVEL: createChoice('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent').default('info'),
  LOG_REQUESTS: share.optional(),
  LOG_REQUESTS_FROM: createCount(599)
    .refine((value) => value >= 100, 'must be at least 100')
    .optional(),
  MANAGEMENT_PORT: createCount(65_535).optional(),
  OTEL_EXPORTER_OTLP_ENDPOINT: createUrl('http:', 'https:').optional(),
  OTEL_TRACES_SAMPLER_ARG: share.default(1),
  OTEL_SDK_DISABLED: z.string().optional(),
  TRUST_TRACEPARENT: booleanFlag.default(false),
  METRICS_PORT: createCount(65_535).optional(),
  METRICS_TOKEN: z.string().min(16, 'must have at least 16 characters').optional(),
  VESTIBULE_TOKEN: z.string().optional(),
})

type Variables = z.infer<typeof variables>

const isInsecure = (origin: string): boolean => {
  const { protocol, hostname } = new URL(origin)
  return protocol === 'http:' && !LOOPBACK_HOST.test(hostname)
}
const LOOPBACK_HOST = /^(?:localhost|.*\.localhost|127(?:\.\d+){3}|\[::1\])$/

/**
 * What production, several workers, or another variable requires and the variables do not have.
 */
function findMissing(values: Variables): string[] {
  const issues: string[] = []
  const requireVariable = (name: keyof Variables, message: string) => {
    if (values[name] === undefined) issues.push(`${name}: ${message}`)
  }
  if (values.NODE_ENV === 'production') {
    requireVariable('BASE_URL', 'is required in production')
    if (values.BASE_URL !== undefined && isInsecure(values.BASE_URL))
      issues.push('BASE_URL: must be https in production, except on this machine')
    if (values.PASSKEY_ORIGINS.some(isInsecure))
      issues.push('PASSKEY_ORIGINS: each must be https in production, except on this machine')
    requireVariable(
      'DATABASE_URL',
      'is required in production (the embedded database is for development and trial)',
    )
    requireVariable('ENCRYPTION_KEY', 'is required in production')
    requireVariable('SMTP_URL', 'is required in production')
  }
  if (values.WORKERS > 1) {
    requireVariable('DATABASE_URL', 'is required with WORKERS above 1')
    requireVariable('REDIS_URL', 'is required with WORKERS above 1')
  }
  if (values.DATABASE_POOLER) requireVariable('DATABASE_URL', 'is required with DATABASE_POOLER')
  if (values.REDIS_SENTINELS) requireVariable('REDIS_URL', 'is required with REDIS_SENTINELS')
  if (values.METRICS_PORT && values.METRICS_PORT === values.PORT)
    issues.push('METRICS_PORT: must differ from PORT; METRICS_TOKEN serves /metrics on PORT')
  if (values.MANAGEMENT_PORT && [values.PORT, values.METRICS_PORT].includes(values.MANAGEMENT_PORT))
    issues.push('MANAGEMENT_PORT: must differ from PORT and METRICS_PORT')
  if (values.SMS_URL) requireVariable('SMS_TOKEN', 'is required with SMS_URL')
  if (values.BOOTSTRAP_CLIENT_ID)
    requireVariable('BOOTSTRAP_CLIENT_SECRET', 'is required with BOOTSTRAP_CLIENT_ID')
  if (values.BOOTSTRAP_CLIENT_SECRET)
    requireVariable('BOOTSTRAP_CLIENT_ID', 'is required with BOOTSTRAP_CLIENT_SECRET')
  return issues
}

export type Env = ReturnType<typeof applyDefaults>

function applyDefaults(values: Variables) {
  const isProduction = values.NODE_ENV === 'production'
  let keys = values.ENCRYPTION_KEY
  return {
    isProduction,
    isTest: values.NODE_ENV === 'test',
    port: values.PORT,
    host: values.HOST ?? (isProduction ? '0.0.0.0' : '127.0.0.1'),
    baseUrl: values.BASE_URL ?? `http://localhost:${values.PORT}`,
    /** Origins besides `baseUrl` whose pages may create passkeys. */
    passkeyOrigins: values.PASSKEY_ORIGINS,
    databaseUrl: values.DATABASE_URL,
    databaseConnections: values.DATABASE_CONNECTIONS,
    /** A pooler in transaction mode, which passes on neither session settings nor names of statements. */
    databasePooler: values.DATABASE_POOLER,
    dataDir: values.DATA_DIR,
    redisUrl: values.REDIS_URL,
    /** The prefix of keys and the name of the channel: what deployments on one Redis do not share. */
    redisPrefix: values.REDIS_PREFIX,
    redisSentinels: values.REDIS_SENTINELS,
    /** Development creates one on first use, so that `vestibule --help` writes no file. */
    get encryptionKeys(): Buffer[] {
      keys ??= [Buffer.from(ensureDevelopmentSecret(values.DATA_DIR, 'encryption-key'), 'base64url')]
      return keys
    },
    smtpUrl: values.SMTP_URL,
    mailFrom: values.MAIL_FROM,
    /** Domains from which tenants may send mail. */
    mailDomains: values.MAIL_DOMAINS,
    sms: values.SMS_URL ? { url: values.SMS_URL, token: values.SMS_TOKEN as string } : undefined,
    bootstrapClient: values.BOOTSTRAP_CLIENT_ID
      ? { id: values.BOOTSTRAP_CLIENT_ID, secret: values.BOOTSTRAP_CLIENT_SECRET as string }
      : undefined,
    demo: values.DEMO ?? !isProduction,
    console: values.CONSOLE,
    trustProxy: values.TRUST_PROXY,
    /** Upstream identity providers may have loopback and private addresses. */
    fetchPrivate: values.FETCH_PRIVATE ?? values.NODE_ENV === 'development',
    workers: values.WORKERS,
    rateLimit: values.RATE_LIMIT,
    networkStorageMb: values.NETWORK_STORAGE_MB,
    subscriptions: values.SUBSCRIPTIONS,
    grantsPerHour: values.GRANTS_PER_HOUR,
    answerMb: values.ANSWER_MB,
    geoipDb: values.GEOIP_DB,
    /** Servers that look up the records of domains; those of the system when unset. */
    dnsServers: values.DNS_SERVERS,
    logLevel: values.LOG_LEVEL,
    /** The share of requests with a line, and the status from which all have one. */
    requestLog: {
      share: values.LOG_REQUESTS ?? (values.NODE_ENV === 'development' && process.stdout.isTTY ? 1 : 0),
      fromStatus: values.LOG_REQUESTS_FROM,
    },
    /** The port of GraphQL, REST and the console, which `port` then does not serve. */
    managementPort: values.MANAGEMENT_PORT,
    /** The share of requests with spans, and whether callers may decide it; undefined when there are no traces. */
    tracing:
      values.OTEL_EXPORTER_OTLP_ENDPOINT && values.OTEL_SDK_DISABLED?.toLowerCase() !== 'true'
        ? { share: values.OTEL_TRACES_SAMPLER_ARG, trustsParent: values.TRUST_TRACEPARENT }
        : undefined,
    metricsPort: values.METRICS_PORT,
    metricsToken: values.METRICS_TOKEN,
    /** The access token or API key of commands with `--url`. */
    commandToken: values.VESTIBULE_TOKEN,
  }
}

/**
 * Parses the environment variables. Returns all issues at once, each as `NAME: message`, with the valid variables and the
 * defaults of the others.
 */
export function parseEnv(
  source: Record<string, string | undefined>,
): { env: Env } | { issues: string[]; readable: Variables } {
  // An empty variable counts as unset, because compose files and CI systems cannot omit one.
  const given = Object.fromEntries(Object.entries(source).filter(([, value]) => value !== ''))
  const parsed = variables.safeParse(given)
  if (!parsed.success) {
    const shape = parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`)
    return { issues: [...shape, ...findReadableMissing(given)], readable: readValid(given) }
  }
  const issues = findMissing(parsed.data)
  return issues.length > 0 ? { issues, readable: parsed.data } : { env: applyDefaults(parsed.data) }
}

/** The variables that are valid, and the defaults of the others. */
const readValid = (given: Record<string, string | undefined>): Variables =>
  Object.fromEntries(
    Object.entries(variables.shape).map(([name, shape]) => {
      const parsed = shape.safeParse(given[name])
      return [name, parsed.success ? parsed.data : shape.safeParse(undefined).data]
    }),
  ) as Variables

/** The missing variables, reported even when others are not valid, so that one start names them all. */
function findReadableMissing(given: Record<string, string | undefined>): string[] {
  const valid = readValid(given)
  const readable = Object.entries(valid).map(([name, value]) => [name, value ?? given[name]])
  return findMissing(Object.fromEntries(readable) as Variables)
}

/** What is wrong with the variables, each as `NAME: message`. Empty, except in `vestibule doctor`, which reports it. */
export const variableIssues: string[] = []

function loadEnv(): Env {
  const result = parseEnv(process.env)
  if ('env' in result) return result.env
  if (process.argv[2] === 'doctor') {
    variableIssues.push(...result.issues)
    return applyDefaults(result.readable)
  }
  process.stderr.write(`Vestibule cannot start:\n${result.issues.map((issue) => `  ${issue}\n`).join('')}`)
  process.exit(1)
}

/** A warning for each variable of this process that looks misspelled. */
export const listUnknownVariables = (): string[] =>
  findUnknownVariables(process.env, Object.keys(variables.shape))

/** The variable that a file of configuration names, which is none of Vestibule's. */
export const readNamedVariable = (name: string): string | undefined => process.env[name]

/** The configuration of this process. No other module reads process.env. */
export const env: Env = loadEnv()
