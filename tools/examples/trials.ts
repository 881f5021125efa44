import { existsSync } from 'node:fs'
import { symlink } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { signIn, type Trial } from './runner.ts'

/** Installs the packages of an example, or lends it those of this checkout. */
export async function install(trial: Trial, isLent: boolean): Promise<void> {
  const has = (name: string) => existsSync(join(trial.directory, name))
  if (isLent) return symlink(resolve('node_modules'), join(trial.directory, 'node_modules'))
  if (has('package.json')) await trial.start('npm install --no-package-lock').succeed()
  if (has('requirements.txt'))
    await trial.start('python3 -m venv .venv && .venv/bin/pip install -q -r requirements.txt').succeed()
}

/** Starts the example as its page says. */
function run(trial: Trial) {
  const paths = [join(trial.directory, '.venv/bin'), process.env.PATH]
  return trial.start(trial.example.run, { PATH: paths.join(':') })
}

/** Signs in at an application in the browser, which shows who signed in. */
async function tryPages(trial: Trial): Promise<void> {
  const server = run(trial)
  await trial.waitUntilServing(server)
  const page = await trial.openPage()
  await page.goto(trial.origin)
  if (page.url().startsWith(trial.origin)) await page.getByText('Sign in', { exact: true }).click()
  // Auth.js asks once more.
  const confirm = page.getByRole('button', { name: 'Sign in with Vestibule' })
  await page.getByLabel('Email address').or(confirm).waitFor()
  if ((await confirm.count()) > 0) await confirm.click()
  await signIn(page, trial)
  await page.getByText(`Signed in as ${trial.address}`).waitFor()
}

/** Signs in where a program on this machine leads to. */
async function tryNative(trial: Trial): Promise<void> {
  const program = run(trial)
  const [, url = ''] = await program.waitForText(/^Open (\S+)/m)
  const page = await trial.openPage()
  await page.goto(url)
  await signIn(page, trial)
  await page.getByText('You are signed in.').waitFor()
  await program.waitForText(new RegExp(`^Signed in as ${trial.address}`, 'm'))
  await program.succeed()
}

/** Enters the code that a device shows. */
async function tryDevice(trial: Trial): Promise<void> {
  const device = run(trial)
  const [, url = '', code = ''] = await device.waitForText(/^Open (\S+) and enter (\S+)/m)
  const page = await trial.openPage()
  await page.goto(url)
  await page.locator('input[name=user_code]').fill(code)
  await page.getByRole('button', { name: 'Continue' }).click()
  await signIn(page, trial)
  await device.waitForText(new RegExp(`^Signed in as ${trial.address}|"access_token"`, 'm'))
  await device.succeed()
}

async function tryMachine(trial: Trial): Promise<void> {
  const machine = run(trial)
  await machine.succeed()
  await machine.waitForText(/eyJ[\w-]+\.[\w-]+\.[\w-]+/)
}

type TryExample = (trial: Trial) => Promise<void>
const BY_KIND: Record<string, { fields: object; attempt: TryExample }> = {
  web: { fields: { appType: 'web' }, attempt: tryPages },
  'single-page': { fields: { appType: 'single-page' }, attempt: tryPages },
  native: { fields: { appType: 'native' }, attempt: tryNative },
  device: { fields: { appType: 'native' }, attempt: tryDevice },
  machine: { fields: { appType: 'machine' }, attempt: tryMachine },
}

/** How an example is tried: the members of its client, and the sign-in. */
export function describeTrial({ id, kind = id }: { id: string; kind?: string }) {
  const trial = BY_KIND[kind]
  if (!trial) throw new Error(`nothing tries ${id}`)
  return trial
}
