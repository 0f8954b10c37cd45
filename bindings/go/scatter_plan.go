//go:build cgo

package gather

// ScatterPlan is a scatter in place whose shapes and options have been checked once, as [Plan] is a gather.
type ScatterPlan[T Element, I Index] struct {
	plan *Plan[T, I] // of the library's, in which updates are read as params are, and the target written as outputs
}

// NewScatterPlan plans a [ScatterInto]. Data is not looked at: [Shaped] tensors will do. The updates are dense.
func NewScatterPlan[T Element, I Index](target Tensor[T], indices Tensor[I],
	options ...Option) (*ScatterPlan[T, I], error) {
	return newScatterPlan(opScatter, target, indices, nil, options)
}

// NewScatterPlanND plans a [ScatterNDInto].
func NewScatterPlanND[T Element, I Index](target Tensor[T], indices Tensor[I],
	options ...Option) (*ScatterPlan[T, I], error) {
	return newScatterPlan(opScatterND, target, indices, nil, options)
}

// NewScatterPlanElements plans a [ScatterElementsInto].
func NewScatterPlanElements[T Element, I Index](target Tensor[T], indices Tensor[I],
	options ...Option) (*ScatterPlan[T, I], error) {
	return newScatterPlan(opScatterElements, target, indices, nil, options)
}

// NewScatterPlanFrom plans a [ScatterInto]: the updates to come are laid out as updates, with [Open] where the open extent
// lands.
func NewScatterPlanFrom[T Element, I Index](target Tensor[T], indices Tensor[I], updates Updates[T],
	options ...Option) (*ScatterPlan[T, I], error) {
	return newScatterPlan(opScatter, target, indices, &updates.view, options)
}

// NewScatterPlanNDFrom plans a [ScatterNDInto], as [NewScatterPlanFrom].
func NewScatterPlanNDFrom[T Element, I Index](target Tensor[T], indices Tensor[I], updates Updates[T],
	options ...Option) (*ScatterPlan[T, I], error) {
	return newScatterPlan(opScatterND, target, indices, &updates.view, options)
}

// NewScatterPlanElementsFrom plans a [ScatterElementsInto], as [NewScatterPlanFrom].
func NewScatterPlanElementsFrom[T Element, I Index](target Tensor[T], indices Tensor[I], updates Updates[T],
	options ...Option) (*ScatterPlan[T, I], error) {
	return newScatterPlan(opScatterElements, target, indices, &updates.view, options)
}

func newScatterPlan[T Element, I Index](op operation, target Tensor[T], indices Tensor[I], updates *view,
	options []Option) (*ScatterPlan[T, I], error) {
	plan, err := newPlan(op, target, indices, updates, options)
	if err != nil {
		return nil, err
	}
	return &ScatterPlan[T, I]{plan}, nil
}

// of is nil for nil, which a plan refuses itself.
func (p *ScatterPlan[T, I]) of() *Plan[T, I] {
	if p == nil {
		return nil
	}
	return p.plan
}

// Close releases the plan, once the runs under way have returned. Closing again does nothing.
func (p *ScatterPlan[T, I]) Close() error { return p.of().Close() }

// Run scatters with the open extent n ([Open] if the plan has none) into target. The slices hold the memory that the plan
// describes, from its first element on, and may be longer. A slice that is too short is ErrSize, with its bytes as Value
// and those needed as Limit; the other errors are those of [ScatterInto]. Run allocates nothing, but for
// [AccumulateFloat32].
func (p *ScatterPlan[T, I]) Run(target Target[T], indices []I, updates Source[T], n int) error {
	return p.RunIn(nil, target, indices, updates, n)
}

// RunIn is Run in a context; a nil one is the process's default.
func (p *ScatterPlan[T, I]) RunIn(in *Context, target Target[T], indices []I, updates Source[T], n int) error {
	return p.of().RunIn(in, target, updates.memory, indices, n)
}

// RunAt is RunIn for raw addresses. That the memory is there, and as large as the plan describes, is the caller's promise.
func (p *ScatterPlan[T, I]) RunAt(in *Context, at ScatterAddresses, n int) error {
	return p.of().RunAt(in, Addresses{Params: at.Updates, Indices: at.Indices, Out: at.Target}, n)
}

// Check judges the indices of a run with the open extent n and does nothing else, as [Plan.Check].
func (p *ScatterPlan[T, I]) Check(indices []I, n int) error { return p.CheckIn(nil, indices, n) }

// CheckIn is Check in a context; a nil one is the process's default.
func (p *ScatterPlan[T, I]) CheckIn(in *Context, indices []I, n int) error {
	return p.of().CheckIn(in, indices, n)
}

// CheckAt is CheckIn for a raw address, as RunAt is RunIn.
func (p *ScatterPlan[T, I]) CheckAt(in *Context, indices uintptr, n int) error {
	return p.of().CheckAt(in, indices, n)
}

// Extents returns how many bytes of target, indices and updates a run with the open extent n touches at most, from the
// address of each on; 0 where it touches none.
func (p *ScatterPlan[T, I]) Extents(n int) (target, indices, updates int, err error) {
	updates, indices, target, err = p.of().Extents(n)
	return target, indices, updates, err
}

// UpdatesShape returns the shape of updates for the open extent n; [Open] is handed on.
func (p *ScatterPlan[T, I]) UpdatesShape(n int) ([]int, error) { return p.of().OutputShape(n) }
