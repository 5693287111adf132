//! Initial values of modal blocks: `start = [..]` for moving modes, `displacement = [..]` for displaced modes, one value per mode.

use crate::context::Place;
use crate::context::modal::ModalBlock;
use crate::expand::Expansion;
use crate::modal_rules::Rules;
use lgm_algebra::expr::ExprId;
use lgm_model::{DomainId, ElementId};
use lgm_source::Span;
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use lgm_syntax::ast::Instance;

/// The initial values of the modes, each with its location; none if not given.
#[derive(Debug, Default)]
pub(crate) struct Starts {
    moving: Option<(Vec<Option<ExprId>>, Span)>,
    displaced: Option<(Vec<Option<ExprId>>, Span)>,
}

impl<'a> Expansion<'_, 'a> {
    /// Reads the attributes of a block.
    pub(crate) fn mode_starts(
        &mut self,
        instance: &'a Instance,
        rules: &Rules<'a>,
        domain: DomainId,
        count: u32,
        place: Place,
    ) -> Option<Starts> {
        let moving = self.domain_dimension(domain, !rules.across);
        let mut starts = Starts::default();
        for attribute in &instance.attributes {
            let (dimension, slot) = match &*attribute.name.text {
                "start" => (moving, &mut starts.moving),
                "displacement" => (self.dims.times_seconds(moving, 1), &mut starts.displaced),
                other => {
                    let diagnostic = Diagnostic::error(Code::LGM0136, format!("a modal block has no `{other}`"))
                        .label(attribute.name.span, "neither `start` nor `displacement`")
                        .help("write `start = [..]` or `displacement = [..]`, a value for each mode");
                    self.report(diagnostic);
                    return None;
                }
            };
            let values = self.start_of(attribute, count as usize, &[dimension], place)?;
            *slot = Some((values, attribute.value.span));
        }
        Some(starts)
    }

    /// Sets the initial values of the parts of the modes; elements of the block count from `first`.
    pub(crate) fn give_starts(&mut self, block: &ModalBlock<'a>, first: ElementId, starts: Starts) -> Option<()> {
        let give = |this: &mut Self, part: ElementId, value: ExprId, span: Span| {
            let element = &mut this.graph.model.graph.elements[(first.0 + part.0) as usize];
            element.start = vec![Some(value)];
            element.start_span = Some(span);
        };
        if let Some((values, span)) = starts.moving {
            for (mode, value) in block.modes.iter().zip(values) {
                if let Some(value) = value {
                    give(self, mode.storage, value, span);
                }
            }
        }
        let Some((values, span)) = starts.displaced else {
            return Some(());
        };
        for (k, (mode, value)) in (1..).zip(block.modes.iter().zip(values)) {
            let Some(value) = value else { continue };
            match mode.restoring {
                Some((part, stiffness)) => {
                    let held = self.arena.exprs.mul(stiffness, value);
                    give(self, part, held, span);
                }
                None if self.arena.exprs.is_zero(value) => {}
                None => {
                    let diagnostic = Diagnostic::error(Code::LGM0136, "a mode without stiffness has no displacement")
                        .label(span, format!("mode {k} is given a displacement here"))
                        .label(block.instance.kind.span, "this is not a state of the block")
                        .help(
                            "write 0 for the rigid-body modes; an output `displacement(..)` is relative to the \
                            initial position",
                        );
                    self.report(diagnostic);
                    return None;
                }
            }
        }
        Some(())
    }
}
