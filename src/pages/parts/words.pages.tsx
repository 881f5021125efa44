import { createContext, type VNode } from 'preact'
import { useContext } from 'preact/hooks'
import type { MessageKey } from '../../languages/messages.ts'
import { getWords, type RichValues, type Words } from '../../languages/translations.ts'

/** The words of the page. */
export const PageWords = createContext<Words>(getWords('en'))

export const useWords = (): Words => useContext(PageWords)

type MessageProps<Key extends MessageKey> = { of: Key } & RichValues<Key, VNode>

/**
 * A message in the language of the page. The other props are its arguments: texts, numbers or elements. A message
 * with elements is one element: in a flex container, its parts would be items without the spaces between them.
 */
export function Message<Key extends MessageKey>({ of: key, ...values }: MessageProps<Key>): VNode {
  const parts = useWords().rich<VNode, Key>(key, values as never)
  return Array.isArray(parts) && parts.length > 1 ? <span>{parts}</span> : <>{parts}</>
}

/** A paragraph that is one message. */
export const Paragraph = <Key extends MessageKey>(message: MessageProps<Key>): VNode => (
  <p>
    <Message {...message} />
  </p>
)

/** A hint that is one message. */
export const Hint = <Key extends MessageKey>(message: MessageProps<Key>): VNode => (
  <p class="hint">
    <Message {...message} />
  </p>
)

/** The translation of an English sentence of a service. */
export const Sentence = ({ children }: { children: string }): VNode => <>{useWords().translate(children)}</>
