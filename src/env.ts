import { randomBytes } from 'node:crypto'
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'

/** A secret that development makes for itself once and keeps, so that a restart invalidates nothing. */
export function developmentSecret(dataDir: string, name: string): string {
  const file = join(dataDir, name)
  if (existsSync(file)) return readFileSync(file, 'utf8').trim()
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  const secret = randomBytes(32).toString('base64url')
  try {
    writeFileSync(file, `${secret}\n`, { mode: 0o600, flag: 'wx' })
  } catch (error) {
    // Another process was faster: its secret is the one that counts.
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return readFileSync(file, 'utf8').trim()
    throw error
  }
  chmodSync(file, 0o600)
  return secret
}

const flag = z.enum(['0', '1'], 'must be 0 or 1').transform((value) => value === '1')
const count = (max: number) =>
  z
    .string()
    .regex(/^\d+$/, 'must be a whole number')
    .transform(Number)
    .refine((value) => value <= max, `must be at most ${max}`)
const urlWith = (...protocols: string[]) =>
  z
    .string()
    .refine(
      (value) => URL.canParse(value) && protocols.includes(new URL(value).protocol),
      `must be a URL that starts with ${protocols.map((protocol) => `${protocol}//`).join(' or ')}`,
    )
const encryptionKey = z.string().transform((value, context) =>
  value.split(',').map((part) => {
    const key = Buffer.from(part.trim(), 'base64url')
    if (key.length !== 32) context.addIssue('each key must be 32 bytes in base64url')
    return key
  }),
)

const variables = z.object({
  NODE_ENV: z.enum(['development', 'test', 'production']).default('development'),
  PORT: count(65_535).default(3000),
  HOST: z.string().optional(),
  BASE_URL: urlWith('http:', 'https:')
    .refine(
      (value) => new URL(value).href === `${new URL(value).origin}/`,
      'must be an origin without a path',
    )
    .transform((value) => new URL(value).origin)
    .optional(),
  DATABASE_URL: urlWith('postgresql:', 'postgres:').optional(),
  DATA_DIR: z.string().default('.vestibule'),
  REDIS_URL: urlWith('redis:', 'rediss:').optional(),
  ENCRYPTION_KEY: encryptionKey.optional(),
  SMTP_URL: urlWith('smtp:', 'smtps:').optional(),
  MAIL_FROM: z.string().default('Vestibule <no-reply@localhost>'),
  SMS_URL: urlWith('http:', 'https:').optional(),
  SMS_TOKEN: z.string().optional(),
  BOOTSTRAP_CLIENT_ID: z.string().optional(),
  BOOTSTRAP_CLIENT_SECRET: z.string().min(32, 'must have at least 32 characters').optional(),
  DEMO: flag.optional(),
  TRUST_PROXY: count(16).default(0),
  FETCH_PRIVATE: flag.optional(),
  WORKERS: count(64)
    .refine((value) => value > 0, 'must be at least 1')
    .default(1),
  RATE_LIMIT: count(1_000_000_000)
    .refine((value) => value > 0, 'must be at least 1')
    .default(60_000),
  GEOIP_DB: z.string().optional(),
  LOG_LEVEL: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info'),
  METRICS: flag.default(true),
})

type Variables = z.infer<typeof variables>

/** What production refuses to start without, and what more than one process needs. */
function missing(values: Variables): string[] {
  const faults: string[] = []
  const needs = (name: keyof Variables, why: string) => {
    if (values[name] === undefined) faults.push(`${name}: ${why}`)
  }
  if (values.NODE_ENV === 'production') {
    needs('BASE_URL', 'is required in production')
    needs('DATABASE_URL', 'is required in production (the embedded database is for development and trial)')
    needs('ENCRYPTION_KEY', 'is required in production')
    needs('SMTP_URL', 'is required in production')
  }
  if (values.WORKERS > 1) {
    needs('DATABASE_URL', 'is required with WORKERS above 1')
    needs('REDIS_URL', 'is required with WORKERS above 1')
  }
  if (values.SMS_URL) needs('SMS_TOKEN', 'is required with SMS_URL')
  if (values.BOOTSTRAP_CLIENT_ID) needs('BOOTSTRAP_CLIENT_SECRET', 'is required with BOOTSTRAP_CLIENT_ID')
  if (values.BOOTSTRAP_CLIENT_SECRET) needs('BOOTSTRAP_CLIENT_ID', 'is required with BOOTSTRAP_CLIENT_SECRET')
  return faults
}

export type Env = ReturnType<typeof withDefaults>

function withDefaults(values: Variables) {
  const isProduction = values.NODE_ENV === 'production'
  return {
    isProduction,
    isTest: values.NODE_ENV === 'test',
    port: values.PORT,
    host: values.HOST ?? (isProduction ? '0.0.0.0' : '127.0.0.1'),
    baseUrl: values.BASE_URL ?? `http://localhost:${values.PORT}`,
    databaseUrl: values.DATABASE_URL,
    dataDir: values.DATA_DIR,
    redisUrl: values.REDIS_URL,
    encryptionKeys: values.ENCRYPTION_KEY ?? [
      Buffer.from(developmentSecret(values.DATA_DIR, 'encryption-key'), 'base64url'),
    ],
    smtpUrl: values.SMTP_URL,
    mailFrom: values.MAIL_FROM,
    sms: values.SMS_URL ? { url: values.SMS_URL, token: values.SMS_TOKEN as string } : undefined,
    bootstrapClient: values.BOOTSTRAP_CLIENT_ID
      ? { id: values.BOOTSTRAP_CLIENT_ID, secret: values.BOOTSTRAP_CLIENT_SECRET as string }
      : undefined,
    demo: values.DEMO ?? !isProduction,
    trustProxy: values.TRUST_PROXY,
    /** Identity providers may be on this machine or in the private network. */
    fetchPrivate: values.FETCH_PRIVATE ?? values.NODE_ENV === 'development',
    workers: values.WORKERS,
    rateLimit: values.RATE_LIMIT,
    geoipDb: values.GEOIP_DB,
    logLevel: values.LOG_LEVEL,
    metrics: values.METRICS,
  }
}

/** Parses the variables of the run contract. Returns every fault at once, as `NAME: what is wrong`. */
export function parseEnv(source: Record<string, string | undefined>): { env: Env } | { faults: string[] } {
  // An empty variable is an unset one: compose files and CI systems cannot leave one out.
  const given = Object.fromEntries(Object.entries(source).filter(([, value]) => value !== ''))
  const parsed = variables.safeParse(given)
  if (!parsed.success) {
    const shape = parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`)
    return { faults: [...shape, ...missingWhereReadable(given)] }
  }
  const faults = missing(parsed.data)
  return faults.length > 0 ? { faults } : { env: withDefaults(parsed.data) }
}

/** The missing variables, even when others are faulty: a person mends all in one go. */
function missingWhereReadable(given: Record<string, string | undefined>): string[] {
  const readable = Object.fromEntries(
    Object.entries(variables.shape).map(([name, shape]) => {
      const parsed = shape.safeParse(given[name])
      return [name, parsed.success ? parsed.data : (given[name] ?? shape.safeParse(undefined).data)]
    }),
  )
  return missing(readable as Variables)
}

function loadEnv(): Env {
  const result = parseEnv(process.env)
  if ('env' in result) return result.env
  process.stderr.write(`Vestibule cannot start:\n${result.faults.map((fault) => `  ${fault}\n`).join('')}`)
  process.exit(1)
}

/** The configuration of this process; the only place that reads process.env. */
export const env: Env = loadEnv()
