/**
 * Swagger UI plugin, run in the browser. It indents JSON as text, so that numbers and the order of
 * members stay as they were sent; Swagger UI would parse the JSON and write it anew. Texts over
 * {@link COLORED_CHARS} get no colors.
 */
;(() => {
  /** Longest text that is colored. Each colored token is an element of the page. */
  const COLORED_CHARS = 16_384
  const INDENT = '  '
  const JSON_TYPES = /^application\/([^;]+\+)?json\b/i
  const TOKENS = /"(?:[^"\\]|\\.)*"|[[\]{}:,]|[^\s[\]{}:,"]+/g
  const AFTER = { ':': ': ' }

  /** Puts each member or item on its own line. Tokens are copied, also those of invalid JSON. */
  function indentJson(text) {
    const tokens = text.match(TOKENS) ?? []
    let depth = 0
    const indented = tokens.map((token, i) => {
      const next = tokens[i + 1]
      if (isOpening(token)) depth += 1
      if (isClosing(next)) depth -= 1
      const line = `\n${INDENT.repeat(Math.max(depth, 0))}`
      return (AFTER[token] ?? token) + (endsLine(token, next) ? line : '')
    })
    return indented.join('')
  }

  /** Whether a line ends after the token. Empty arrays and objects stay on one line. */
  function endsLine(token, next) {
    if (isClosing(next)) return !isOpening(token)
    return token === ',' || isOpening(token)
  }

  const isOpening = (token) => token === '[' || token === '{'
  const isClosing = (token) => token === ']' || token === '}'

  const plugin = ({ React, getComponent }) => ({
    wrapComponents: {
      responseBody: (Original) => (props) => {
        const { content, contentType = '' } = props
        const isJson = typeof content === 'string' && JSON_TYPES.test(contentType)
        if (!isJson) return React.createElement(Original, props)
        return React.createElement(
          getComponent('HighlightCode', true),
          { language: 'json', downloadable: true, fileName: 'answer.json', canCopy: true },
          indentJson(content),
        )
      },
      SyntaxHighlighter: (Original) => (props) => {
        const { children, className } = props
        if (children.length <= COLORED_CHARS) return React.createElement(Original, props)
        return React.createElement(getComponent('PlainTextViewer'), { className }, children)
      },
    },
  })

  window.coatcheck.plugins.push(plugin)
})()
