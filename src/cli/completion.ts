import type { ArgsDef, CommandDef, SubCommandsDef } from 'citty'
import { InvalidInput } from '../core/errors.ts'
import { defineReportingCommand } from './command.ts'

/** The words of a command: its options, and the commands of a group. */
type Words = { name: string; description: string; options: string[]; commands: Words[] }

const resolve = async <T>(value: unknown): Promise<T> =>
  (await (typeof value === 'function' ? (value as () => unknown)() : value)) as T

/** Reads the words of all commands from their tables. */
async function readWords(name: string, given: unknown): Promise<Words> {
  const command = await resolve<CommandDef>(given)
  const [meta, args, subCommands] = await Promise.all([
    resolve<{ description?: string } | undefined>(command.meta),
    resolve<ArgsDef | undefined>(command.args),
    resolve<SubCommandsDef | undefined>(command.subCommands),
  ])
  const options = Object.entries(args ?? {}).filter(([, { type }]) => type !== 'positional')
  return {
    name,
    description: meta?.description ?? '',
    options: options.map(([option]) => option),
    commands: await Promise.all(Object.entries(subCommands ?? {}).map(([sub, each]) => readWords(sub, each))),
  }
}

const listNames = (commands: readonly Words[]): string => commands.map(({ name }) => name).join(' ')
const listOptions = ({ options }: Words): string => options.map((option) => `--${option}`).join(' ')

function buildBashCase(command: Words): string {
  if (command.commands.length === 0) return `    ${command.name}) words="${listOptions(command)}" ;;`
  const lines = command.commands.map((each) => `        ${each.name}) words="${listOptions(each)}" ;;`)
  return `    ${command.name})
      words="${listNames(command.commands)}"
      (( COMP_CWORD > 2 )) && case "\${COMP_WORDS[2]}" in
${lines.join('\n')}
        *) words="" ;;
      esac ;;`
}

const buildBash = ({ commands }: Words): string => `_vestibule() {
  local words="${listNames(commands)}"
  (( COMP_CWORD > 1 )) && case "\${COMP_WORDS[1]}" in
${commands.map(buildBashCase).join('\n')}
    *) words="" ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _vestibule vestibule
`

const buildZsh = (words: Words): string =>
  `#compdef vestibule\nautoload -U +X bashcompinit && bashcompinit\n${buildBash(words)}`

const quote = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`

/** The lines of a command, where the words before it are \`seen\`. */
function buildFishLines({ commands, options }: Words, seen: readonly string[]): string[] {
  const conditions = seen.map((name) => `__fish_seen_subcommand_from ${name}`)
  const open = commands.length > 0 ? [`not __fish_seen_subcommand_from ${listNames(commands)}`] : []
  const condition = quote([...conditions, ...open].join('; and '))
  return [
    ...commands.map(
      ({ name, description }) =>
        `complete -c vestibule -f -n ${condition} -a ${name} -d ${quote(description)}`,
    ),
    ...options.map((option) => `complete -c vestibule -n ${condition} -l ${option}`),
    ...commands.flatMap((each) => buildFishLines(each, [...seen, each.name])),
  ]
}

const SCRIPTS: Record<string, (words: Words) => string> = {
  bash: buildBash,
  zsh: buildZsh,
  fish: (words) => `${buildFishLines(words, []).join('\n')}\n`,
}

/** The command that prints the completion script of a shell for the commands of `getRoot`. */
export const createCompletionCommand = (getRoot: () => CommandDef): CommandDef =>
  defineReportingCommand({
    name: 'completion',
    description: 'Print the completion script of a shell: bash, zsh or fish',
    args: { shell: { type: 'positional', required: true, description: 'bash, zsh or fish' } },
    run: async ({ shell }) => {
      const build = Object.hasOwn(SCRIPTS, shell) ? SCRIPTS[shell] : undefined
      if (!build)
        throw new InvalidInput(
          [{ field: 'shell', description: 'must be bash, zsh or fish' }],
          'The command is not valid.',
        )
      const script = build(await readWords('vestibule', getRoot()))
      return { text: script.trimEnd(), json: { shell, script } }
    },
  })
