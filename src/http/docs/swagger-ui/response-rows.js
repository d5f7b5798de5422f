/**
 * Swagger UI plugin, run in the browser: of the responses that an operation declares, only the one with an example of its own
 * is shown whole. Any other is a row: its description, which links the page of each problem code, and its headers folded.
 */
;(() => {
  const plugin = ({ React }) => {
    const h = React.createElement

    const FoldedHeaders = ({ headers, getComponent }) =>
      h(
        'details',
        {},
        h('summary', {}, 'Headers'),
        h(getComponent('headers'), { headers, getComponent }),
      )

    const ResponseRow = ({ code, response, getComponent }) => {
      const headers = response.get('headers')
      return h(
        'tr',
        { className: 'response', 'data-code': code },
        h('td', { className: 'response-col_status' }, code),
        h(
          'td',
          { className: 'response-col_description' },
          h(getComponent('Markdown', true), { source: response.get('description') }),
          headers === undefined ? null : h(FoldedHeaders, { headers, getComponent }),
        ),
      )
    }

    return {
      wrapComponents: {
        response: (Original) => (props) => {
          const { response } = props
          const types = response.get('content')
          const hasExample = types?.some((media) => media.has('example')) ?? false
          // a reference that is not resolved yet
          return h(hasExample || response.has('$ref') ? Original : ResponseRow, props)
        },
      },
    }
  }

  window.coatcheck.plugins.push(plugin)
})()
